"""A bar on a terminal, a plain line every few seconds elsewhere; on stderr."""
from __future__ import annotations

import sys
import time
from typing import Callable, Optional

Callback = Callable[[str, int, int], None]
Reporter = Callable[[str, int, int, str], None]

_WIDTH = 24
_TERMINAL_INTERVAL = 0.1
_PLAIN_INTERVAL = 5.0


class _Bar:
    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._task = ""
        self._begin = self._last = time.monotonic()
        self._drawn = False

    def __call__(self, task: str, done: int, total: int, unit: str) -> None:
        now = time.monotonic()
        if task != self._task:
            self._task, self._begin, self._last = task, now, now
        if now - self._last < (_TERMINAL_INTERVAL if self._terminal else _PLAIN_INTERVAL):
            return
        self._last = now
        line = f"{task} {done:,} {unit}"
        if total > 0:
            share = min(1.0, done / total)
            bar = ("#" * int(share * _WIDTH)).ljust(_WIDTH)
            left = (now - self._begin) * (1 - share) / share if share > 0 else 0.0
            line = f"{task} [{bar}] {100 * share:3.0f} %  {left:.0f} s left"
        print("\r\x1b[K" + line if self._terminal else line, end="" if self._terminal else "\n", file=sys.stderr, flush=True)
        self._drawn = self._terminal

    def close(self) -> None:
        if self._drawn:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._drawn = False


class Progress:
    """Reports the progress of a call; `with` clears the bar at the end. `report` is None if no progress is wanted."""

    def __init__(self, show: bool, callback: Optional[Callback] = None) -> None:
        self._bar = _Bar() if show else None
        self._callback = callback
        self.report: Optional[Reporter] = self._tell if show or callback is not None else None

    def _tell(self, task: str, done: int, total: int, unit: str) -> None:
        if self._bar is not None:
            self._bar(task, done, total, unit)
        if self._callback is not None:
            self._callback(task, done, total)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
