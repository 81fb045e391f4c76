"""One run that somebody wants, as a value: whoever asks makes it, the store accepts or refuses it."""

from datetime import datetime, timedelta
from enum import IntEnum
from functools import lru_cache
from typing import Any, Final, NamedTuple
from uuid import UUID

from headway.core.errors import Problem
from headway.core.run import Cause

INLINE_BYTES: Final = 2048
LARGEST_INPUT: Final = 256 * 1024
LONGEST_KEY: Final = 128
LONGEST_NAME: Final = 256
# Beside the bits of the reactions that its end owes: it fires no triggers.
QUIET: Final = 1 << 8


class Origin(IntEnum):
    """Why a run exists."""

    CALL = 0
    SLOT = 1
    CATCH_UP = 2
    BACKFILL = 3
    REPLAY = 4
    RERUN = 5
    TRIGGER = 6
    CHILD = 7
    STEP = 8


class Ask(NamedTuple):
    """One run that somebody wants.  A tuple, because one is made for every run.

    `params` is JSON text, `payload` opaque bytes.  It is due at `at`, or `delay` after it is accepted; both None mean now.
    `priority` None takes the definition's.  `key` makes repetitions one run, for a day, or with `unique_while_open` for as long as
    that run is open.  `owes` has a bit for each kind of reaction that its end owes, and QUIET.  With a `cause` it is held until
    somebody frees it.  `depth` counts the triggers between it and the run that nobody triggered.  A `forced` one
    passes restrictions.  `attempt` is the number of the last attempt before it, `sealed` the version of the definition by which its
    secrets were sealed.  `batch_index` is its place among the children of a batch; one that is not `counted` is no concurrent run of its
    definition.
    """

    definition: str
    tenant: str = ""
    params: str | None = None
    payload: bytes | None = None
    at: datetime | None = None
    priority: int | None = None
    key: str | None = None
    correlation: str | None = None
    created_by: str = ""
    origin: Origin = Origin.CALL
    parent: UUID | None = None
    schedule: UUID | None = None
    slot_at: datetime | None = None
    token: UUID | None = None
    traceparent: str | None = None
    definition_tenant: str | None = None
    delay: timedelta | None = None
    unique_while_open: bool = False
    owes: int = 0
    cause: Cause = Cause.NONE
    depth: int = 0
    forced: bool = False
    attempt: int = 0
    sealed: int = 0
    batch_index: int | None = None
    counted: bool = True

    @property
    def inline(self) -> bool:
        """Whether everything fits into the hot row."""
        return self.payload is None and self.traceparent is None and len(self.params or "") <= INLINE_BYTES

    @property
    def lone(self) -> bool:
        """Whether one row is all that it takes: nothing beside it is written, read or reckoned with the database's clock."""
        return self.key is None and self.delay is None and self.inline and not self.forced

    @property
    def owner(self) -> str:
        """The tenant whose definition is meant."""
        return self.tenant if self.definition_tenant is None else self.definition_tenant

    def due(self, now: datetime) -> datetime | None:
        """The instant at which it is due when it is accepted now; None means at once."""
        return self.at if self.delay is None else now + self.delay


def problems_of(ask: Ask) -> list[Problem]:
    """Return what no database could accept or nobody could mean, each with its field; none for an ask that is fine."""
    found = [Problem(field, complaint) for field, text, most in _texts(ask) if text and (complaint := _complaint(text, most))]
    if ask.key is not None and not _fits(ask.key):
        found.append(Problem("key", f"must be text of 1 to {LONGEST_KEY} printable characters"))
    if ask.priority is not None and not 0 <= ask.priority <= 9:
        found.append(Problem("priority", "must be a whole number from 0 to 9"))
    if ask.params is not None and len(ask.params) > LARGEST_INPUT:
        found.append(Problem("parameters", f"must not be larger than {LARGEST_INPUT} bytes: pass a reference instead"))
    if ask.payload is not None and len(ask.payload) > LARGEST_INPUT:
        found.append(Problem("payload", f"must not be larger than {LARGEST_INPUT} bytes: pass a reference instead"))
    if ask.at is not None or ask.delay is not None:
        found += _time_problems(ask)
    return found


def _texts(ask: Ask) -> tuple[tuple[str, str | None, int], ...]:
    return (
        ("definition", ask.definition, LONGEST_NAME),
        ("tenant", ask.tenant, LONGEST_NAME),
        ("correlation", ask.correlation, LONGEST_NAME),
        ("created_by", ask.created_by, LONGEST_NAME),
        ("traceparent", ask.traceparent, LONGEST_NAME),
    )


def _fits(key: Any) -> bool:
    return isinstance(key, str) and 0 < len(key) <= LONGEST_KEY and key.isprintable()


@lru_cache(maxsize=4096)
def _complaint(text: str, most: int) -> str:
    if text.isascii() and text.isprintable() and len(text) <= most:
        return ""
    if len(text) > most:
        return f"must be at most {most} characters"
    if "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        return "must not hold NUL or half of a character"
    return ""


def _time_problems(ask: Ask) -> list[Problem]:
    if ask.at is not None and ask.at.tzinfo is None:
        return [Problem("at", "must be an instant with its offset, such as 2026-01-31T07:00:00Z")]
    if ask.at is not None and ask.delay is not None:
        return [Problem("delay", "cannot be given beside at")]
    if ask.delay is not None and not timedelta() <= ask.delay <= timedelta(days=36_500):
        return [Problem("delay", "must not be negative or longer than a century")]
    return []
