"""Accept asks together: all or none of them, for good or as a trial."""

from collections.abc import Sequence
from typing import Any

from headway.core.ask import Ask
from headway.core.errors import HeadwayError, Problem
from headway.core.reading import demand
from headway.store.accept import accept
from headway.store.enqueue import Accepted
from headway.store.tx import Tx


class Transaction:
    """A transaction on the caller's connection, with the runs that were accepted in it."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.accepted: list[Accepted] = []


class Undone(Exception):
    """Undoes a transaction that was a trial."""


async def accept_all(tx: Tx, asks: Sequence[Ask], *, admit: bool = True) -> list[Accepted]:
    """Accept all or none.  Raises the error of a single ask, or Invalid with every ask that is refused by its index."""
    answers = await accept(tx, asks, admit=admit)
    refused = {number: one for number, one in enumerate(answers) if isinstance(one, HeadwayError)}
    if refused and len(asks) == 1:
        raise refused[0]
    demand([Problem(f"asks[{number}]", error.message) for number, error in refused.items()])
    return [one for one in answers if isinstance(one, Accepted)]


async def accept_none(tx: Tx, asks: Sequence[Ask]) -> None:
    """Do everything that `accept_all` does, and raise Undone so that nothing of it stays."""
    await accept_all(tx, asks)
    raise Undone
