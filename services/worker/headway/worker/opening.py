"""A claimed run with its secret parameters opened, for its handler alone: what is settled of it tells none of them."""

from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

import orjson

from headway.core.ask import Ask
from headway.core.batch import BatchAsk
from headway.core.hiding import hidden
from headway.core.outcome import Failure, SafeError
from headway.core.secret import SEAL, SecretNotOpenable, Vault, is_sealed, opened, words_of
from headway.sdk.run import Attempted, Link
from headway.store.claim import Claimed
from headway.store.sealing import values_of

_SIGN: Final = f'"{SEAL}"'


class Opening(NamedTuple):
    """A run as its handler gets it, the words that have to be hidden in what it says, and why it cannot be run at all."""

    claimed: Claimed
    words: Sequence[str] = ()
    refusal: Failure | None = None


class DiscreetLink:
    """The way back to the platform of a handler that knows secrets: progress tells none of them."""

    def __init__(self, link: Link, words: Sequence[str]) -> None:
        self.link = link
        self.words = words

    async def progress(self, claimed: Attempted, percent: int, message: str) -> None:
        """Record progress."""
        await self.link.progress(claimed, percent, hidden(message, self.words))

    async def enqueue(self, claimed: Attempted, asks: Sequence[Ask]) -> list[UUID]:
        """Create children; what their definitions call secret is sealed again."""
        return await self.link.enqueue(claimed, asks)

    async def open_batch(self, claimed: Attempted, wanted: BatchAsk) -> UUID:
        """Open a batch."""
        return await self.link.open_batch(claimed, wanted)

    async def append(self, claimed: Attempted, parent: UUID, children: Sequence[Ask]) -> int:
        """Append children to a batch; what their definitions call secret is sealed again."""
        return await self.link.append(claimed, parent, children)

    async def close_batch(self, claimed: Attempted, parent: UUID) -> None:
        """Let a batch take no more children."""
        await self.link.close_batch(claimed, parent)


def opening(claimed: Claimed, vault: Vault | None) -> Opening:
    """Open a run's secrets.  One that no key opens is refused for good: trying again would not help."""
    if claimed.params is None or _SIGN not in claimed.params:
        return Opening(claimed)
    values = values_of(claimed.params)
    if not any(map(is_sealed, values.values())):
        return Opening(claimed)
    try:
        clear = opened(values, vault)
    except SecretNotOpenable as error:
        return Opening(claimed, (), Failure(SafeError(error.code, error.message), permanent=True))
    words = words_of({name: clear[name] for name, value in values.items() if is_sealed(value)})
    return Opening(claimed._replace(params=orjson.dumps(clear).decode()), words)
