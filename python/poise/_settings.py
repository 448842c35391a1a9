"""Threads, memory and seeds in their common forms."""
from __future__ import annotations

import operator
import re
from typing import Any, Optional

import numpy as np

from . import _poise

_LEAST_MEMORY = 64 << 20
_SIZE = re.compile(r"\s*([0-9.]+)\s*([kmgt]?)(i?b)?\s*", re.IGNORECASE)


def whole(value: Any, name: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise ValueError(f"{name} {value!r} is not a whole number") from None


def number(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} {value!r} is not a number") from None


def threads_of(num_threads: Optional[int], n_jobs: Optional[int] = None) -> int:
    """0: all cores. `n_jobs` has precedence, and counts as in scikit-learn: -1 is all cores, -2 all but one."""
    if n_jobs is not None:
        jobs = whole(n_jobs, "n_jobs")
        if jobs == 0:
            raise ValueError("n_jobs 0 is out of range: -1 is all cores, or give their number")
        return jobs if jobs > 0 else max(1, _poise.default_threads() + 1 + jobs)
    threads = 0 if num_threads is None else whole(num_threads, "num_threads")
    if not 0 <= threads <= 1024:
        raise ValueError(f"num_threads {threads} is out of range: 0 is all cores, 1024 the most")
    return threads


def memory_of(limit: Any) -> int:
    """Bytes of 8589934592 or "8G"; by default 80 % of the machine's memory."""
    if limit is None:
        return _poise.total_memory() // 5 * 4
    if isinstance(limit, str):
        match = _SIZE.fullmatch(limit)
        try:
            size = float(match.group(1)) if match else float("nan")
        except ValueError:
            size = float("nan")
        if match is None or not np.isfinite(size):
            raise ValueError(f"memory_limit {limit!r} is not a size such as 8G, 1.5G or 500M")
        limit = int(size * 1024 ** " kmgt".index(match.group(2).lower() or " "))
    size_in_bytes = whole(limit, "memory_limit")
    if size_in_bytes < _LEAST_MEMORY:
        raise ValueError(f"memory_limit {limit} is too little; 64M is the least")
    return size_in_bytes


def seed_of(random_state: Any) -> int:
    """1 for None, so that equal calls give equal models."""
    if random_state is None:
        return 1
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    seed = whole(random_state, "random_state")
    if seed < 0:
        raise ValueError(f"random_state {seed} is out of range: at least 0 is needed")
    return seed
