"""The border to the driver: its exceptions come out as ours, and one policy says what is tried again."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import asyncpg
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from headway.core.errors import Invalid, Unavailable

CONTESTED: Final = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)
AWAY: Final = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.CannotConnectNowError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.QueryCanceledError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    OSError,
    TimeoutError,
)


class Contested(Unavailable):
    """Two transactions wanted the same rows and this one lost; nothing was written."""

    code = "contested"


@contextmanager
def translated() -> Iterator[None]:
    """Turn the driver's way of saying "away" or "contested" into Unavailable, "no such value" into Invalid; the rest passes through."""
    try:
        yield
    except CONTESTED as error:
        raise Contested(f"database: {error}") from error
    except asyncpg.DataError as error:
        raise Invalid.field("", f"database: {error}", code="value_refused") from error
    except AWAY as error:
        raise Unavailable(f"database: {error or type(error).__name__}") from error


@contextmanager
def new_to(what: str) -> Iterator[None]:
    """Turn the driver's way of saying that a key is there already into Invalid, which names the key."""
    try:
        yield
    except asyncpg.UniqueViolationError as error:
        raise Invalid.field(what, f"is recorded already: {error.detail}", code="recorded_already") from error


def retrying() -> AsyncRetrying:
    """Return the policy for a transaction that was contested once: four more tries with full jitter up to 200 ms."""
    return AsyncRetrying(
        retry=retry_if_exception_type(Contested),
        wait=wait_random_exponential(multiplier=0.01, max=0.2),
        stop=stop_after_attempt(4),
        reraise=True,
    )
