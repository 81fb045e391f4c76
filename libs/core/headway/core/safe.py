"""Make of an exception what may be stored and shown: limited, without secrets, without what PostgreSQL refuses."""

import re
from traceback import TracebackException
from typing import Final

from headway.core.outcome import SafeError

MESSAGE_LIMIT: Final = 3000
STACK_LIMIT: Final = 16_384
MASK: Final = "***"
CUT: Final = " ... [cut] ... "
_PIECE_LIMIT: Final = 4000
_ALLOWANCE: Final = 2  # times the limit is looked at: masks are shorter than what they hide
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
_USERINFO: Final = re.compile(r"(://[^/\s:@]*):\S{0,512}@")
_BEARER: Final = re.compile(r"\b(bearer|basic)(\s+)[\w.~+/=-]{8,}", re.IGNORECASE)
_NAMED: Final = re.compile(
    r"([\w-]{0,40}(?:passw(?:or)?d|passphrase|secret|token|credential|api[_-]?key|private[_-]?key|authorization)[\w-]{0,40}[\"']?\s{0,4}[=:]\s{0,4})"
    r"(?!(?:bearer|basic)\b)(\"[^\"]*\"|'[^']*'|[^\s\"',;&)}\]]+)",
    re.IGNORECASE,
)


def safe_error(error: BaseException) -> SafeError:
    """Return an exception as a value: its class, its message of at most 3,000 and its stack of at most 16,384 characters."""
    told = TracebackException.from_exception(error, compact=True)
    last = next((piece for piece in told.format_exception_only() if not piece.startswith(" ")), "").rstrip("\n")
    _, _, message = last.partition(": ")
    stack = "".join(shortened(piece, _PIECE_LIMIT) for piece in told.format())
    return SafeError(type(error).__name__, safe_text(message or last, MESSAGE_LIMIT), safe_text(stack, STACK_LIMIT))


def safe_text(text: str, limit: int) -> str:
    """Return text of at most `limit` characters: secrets masked, what PostgreSQL refuses replaced, the middle cut out if need be."""
    return shortened(_UNSTORABLE.sub("\ufffd", without_secrets(shortened(text, limit * _ALLOWANCE))), limit)


def without_secrets(text: str) -> str:
    """Mask passwords in URLs, values that are secret by their name, and bearer tokens."""
    return _NAMED.sub(rf"\1{MASK}", _BEARER.sub(rf"\1\2{MASK}", _USERINFO.sub(rf"\1:{MASK}@", text)))


def shortened(text: str, limit: int) -> str:
    """Return text of at most `limit` characters, with a mark where its middle was cut out: a quarter stays in front."""
    if len(text) <= limit:
        return text
    head = (limit - len(CUT)) // 4
    return text[:head] + CUT + text[len(text) - (limit - len(CUT) - head) :]
