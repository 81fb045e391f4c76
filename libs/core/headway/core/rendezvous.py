"""Which of several equals a thing belongs to, found alike by each of them without a word between them."""

from collections.abc import Iterable
from hashlib import blake2b
from uuid import UUID


def owner_of(thing: UUID, members: Iterable[UUID]) -> UUID | None:
    """Return the member that a thing belongs to, or None when there are no members.

    Rendezvous hashing: every member bids for the thing by a hash of both, and the highest bid has it.  So the things are shared
    evenly, and a member that joins or leaves moves only what it gains or gives up.
    """
    wanted = thing.bytes
    return max(members, key=lambda member: blake2b(wanted, digest_size=8, key=member.bytes).digest(), default=None)
