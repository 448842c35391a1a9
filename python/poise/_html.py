"""What notebooks show: small HTML tables. Every text is escaped, because ids and names come from anywhere."""
from __future__ import annotations

import html
from typing import Any, Iterable, List, Sequence


def shown(value: Any) -> str:
    """A cell: floats in four digits, everything escaped."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    return html.escape(str(value))


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    cells = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{shown(value)}</td>" for value in row) + "</tr>" for row in rows)
    return f"<table>{'<tr>' + cells + '</tr>' if head else ''}{body}</table>"


def titled(title: str, *parts: str) -> str:
    return f"<div><strong>{html.escape(title)}</strong>{''.join(parts)}</div>"


def paragraph(text: str) -> str:
    return f"<p>{html.escape(text)}</p>"


def some_ids(ids: Iterable[Any], count: int) -> str:
    """The first few ids, not escaped yet."""
    first: List[str] = []
    for each in ids:
        if len(first) == 5:
            break
        text = str(each)
        first.append(text if len(text) <= 40 else text[:39] + "…")
    return ", ".join(first) + (", ..." if count > len(first) else "")
