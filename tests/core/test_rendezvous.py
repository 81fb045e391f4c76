"""Who owns what among equals."""

from collections import Counter
from random import Random
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from headway.core.rendezvous import owner_of

members = st.sets(st.uuids(), min_size=1, max_size=8)


@given(st.uuids(), members, st.randoms())
def test_everybody_finds_the_same_owner(thing: UUID, those: set[UUID], chance: Random) -> None:
    """The owner is one of the members, whatever order they are listed in."""
    listed = sorted(those)
    chance.shuffle(listed)
    assert owner_of(thing, listed) == owner_of(thing, sorted(those))
    assert owner_of(thing, listed) in those


def test_nobody_owns_anything_among_none() -> None:
    """Without members there is no owner."""
    assert owner_of(UUID(int=1), []) is None


@given(st.lists(st.uuids(), min_size=1, max_size=50), members, st.uuids())
def test_a_change_moves_only_what_it_must(things: list[UUID], those: set[UUID], other: UUID) -> None:
    """Whoever joins takes things from others and moves none between them; whoever leaves gives up its own alone."""
    without, joined = those - {other}, those | {other}
    for thing in things:
        before, after = owner_of(thing, without), owner_of(thing, joined)
        assert after in (before, other)


def test_shares_are_even() -> None:
    """Of 10,000 things among five, each has its fifth, give or take a tenth of it; so have four when one has left."""
    chance = Random(1)  # noqa: S311  # the same ids in every run
    five = [UUID(int=chance.getrandbits(128)) for _ in range(5)]
    things = [UUID(int=chance.getrandbits(128)) for _ in range(10_000)]
    for those in (five, five[1:]):
        shares = Counter(owner_of(thing, those) for thing in things)
        assert all(abs(shares[member] - 10_000 / len(those)) < 1_000 / len(those) for member in those)
