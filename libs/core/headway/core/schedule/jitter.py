"""Spread what is due at one instant over a window, the same way every time."""

from datetime import timedelta
from hashlib import blake2b
from typing import Final
from uuid import UUID

_MILLISECOND: Final = timedelta(milliseconds=1)


def jitter_of(schedule_id: UUID, window: timedelta) -> timedelta:
    """Return a schedule's delay inside a window: whole milliseconds in [0, window), always the same for an id and a window."""
    choices = window // _MILLISECOND
    if choices <= 0:
        return timedelta()
    return int.from_bytes(blake2b(schedule_id.bytes, digest_size=8).digest()) % choices * _MILLISECOND
