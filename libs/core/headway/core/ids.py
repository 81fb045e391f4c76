"""Ids that sort by the moment they were made.

A UUIDv7 (RFC 9562) holds 48 bits of milliseconds; the bits behind it are ours: 12 for the microseconds inside the millisecond,
20 for a counter that rises inside one call, 42 random.  So id order is enqueue order, across transactions to the microsecond and
inside one exactly.
"""

import secrets
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import NAMESPACE_URL, UUID, uuid5

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_VERSION_AND_VARIANT: Final = (7 << 76) | (2 << 62)
_COUNTER_BITS: Final = 20
_RANDOM_BITS: Final = 42
MOST_IDS: Final = 1 << _COUNTER_BITS


def make_ids(now: datetime, count: int) -> list[UUID]:
    """Return `count` new ids, at most 1,048,576, in rising order, that sort by `now` among those of other calls."""
    if not 0 <= count <= MOST_IDS:
        raise ValueError(f"count must be between 0 and {MOST_IDS}")
    millis, micros = divmod((now - _EPOCH) // _MICROSECOND, 1000)
    first = (millis << 80) | (micros << 64) | _VERSION_AND_VARIANT | secrets.randbits(_RANDOM_BITS)
    step = 1 << _RANDOM_BITS
    return [UUID(int=first + number * step) for number in range(count)]


def make_id(now: datetime) -> UUID:
    """Return one new id that sorts by `now`."""
    return make_ids(now, 1)[0]


def token_for(*parts: object) -> UUID:
    """Return the idempotency token of a slot or key: the same parts give the same token, in every process and release."""
    return uuid5(NAMESPACE_URL, "headway:" + "\x1f".join(str(part) for part in parts))
