"""The border to the driver: what it raises, and how the rest of Headway hears of it."""

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from aio_pika.exceptions import CONNECTION_EXCEPTIONS, ChannelPreconditionFailed
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_random_exponential

from headway.core.errors import Invalid, Unavailable

TROUBLE: Final[tuple[type[Exception], ...]] = (*CONNECTION_EXCEPTIONS, TimeoutError)
"""Everything that the driver raises when the broker is away, closes something, or does not answer in time."""

MISMATCH: Final = re.compile(r"inequivalent arg '(?P<setting>[^']+)'.*?: (?P<difference>received .*)", re.DOTALL)
SHORTEST_WAIT: Final = 0.2
LONGEST_WAIT: Final = 3.0


def for_ever(heed: Callable[[int, BaseException], None]) -> AsyncRetrying:
    """Return the one policy of this border: again and again, with jitter.

    `heed` hears of the first failure, the second, the fourth and so on, with the number of tries: an outage fills no log.
    """

    def before_sleep(state: RetryCallState) -> None:
        tries = state.attempt_number
        error = state.outcome.exception() if state.outcome else None
        if error is not None and tries & (tries - 1) == 0:
            heed(tries, error)

    return AsyncRetrying(
        wait=wait_random_exponential(multiplier=SHORTEST_WAIT, max=LONGEST_WAIT),
        retry=retry_if_exception_type(Exception),
        before_sleep=before_sleep,
    )


def asked_to_end() -> bool:
    """Say whether somebody cancelled this task; if nobody did, a CancelledError is the driver's way to say that something closed."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


@contextmanager
def answered(question: str) -> Iterator[None]:
    """Turn whatever the driver raises into Unavailable; a cancellation that is meant for this task passes."""
    try:
        yield
    except asyncio.CancelledError as error:
        if asked_to_end():
            raise
        raise Unavailable(f"the broker closed the channel: {question}") from error
    except TROUBLE as error:
        raise Unavailable(f"the broker did not answer: {question}: {error!r}") from error


def mismatch(kind: str, name: str, error: ChannelPreconditionFailed) -> Invalid:
    """Return the error for something that the broker holds with other settings than Headway declares."""
    text = str(error)
    found = MISMATCH.search(text)
    setting, difference = (found["setting"], found["difference"]) if found else ("settings", text)
    remedy = f"the broker holds this {kind} otherwise: {difference}; delete it, or choose another prefix"
    return Invalid.field(f"broker {kind} {name}, {setting}", remedy, code="declaration_mismatch")
