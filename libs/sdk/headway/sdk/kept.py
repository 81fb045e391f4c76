"""What cannot be kept of JSON that has been written: looked for only where the text gives cause."""

import json
import re
from typing import Final

from headway.core.document import DEEPEST, problems_of
from headway.core.errors import Problem

_CAUSE: Final = re.compile(rb"[0-9]{19}|\\u0000|\\ud[89a-f]", re.IGNORECASE)


def unkept(text: bytes, field: str) -> list[Problem]:
    """Name everything in a JSON text that the platform refuses at its other doors too: NUL, numbers beyond 64 bits, depth."""
    if text.count(b"[") + text.count(b"{") <= DEEPEST and _CAUSE.search(text) is None:
        return []
    if _deep(text):
        return [Problem(field, f"is nested deeper than {DEEPEST} levels")]
    try:
        return list(problems_of(json.loads(text), field))
    except ValueError:
        return [Problem(field, "holds a number or text that cannot be stored")]


def _deep(text: bytes) -> bool:
    """Whether brackets, those in strings left aside, nest deeper than may be stored."""
    depth = 0
    for one in re.sub(rb'"(?:[^"\\]|\\.)*"', b"", text):
        depth += (one in b"[{") - (one in b"]}")
        if depth > DEEPEST:
            return True
    return False
