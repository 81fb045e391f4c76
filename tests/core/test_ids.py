"""Ids sort by the moment they were made."""

from datetime import UTC, datetime, timedelta
from uuid import RFC_4122, UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core import ids
from headway.core.ids import MOST_IDS, make_id, make_ids

NOW = datetime(2026, 3, 1, 12, 0, 0, 123_456, tzinfo=UTC)
instants = st.datetimes(datetime(1970, 1, 1), datetime(9999, 12, 31)).map(lambda at: at.replace(tzinfo=UTC))  # noqa: DTZ001  # UTC is put on at once


@given(instants, st.integers(0, 300))
def test_ids_rise_inside_a_call(now: datetime, count: int) -> None:
    """Inside one call id order is the order of asking, without equals."""
    made = make_ids(now, count)
    assert len(made) == count
    assert made == sorted(set(made))


@given(instants, instants)
def test_ids_sort_by_their_instant(first: datetime, second: datetime) -> None:
    """Across calls ids sort by `now`, to the microsecond, however many the earlier call made."""
    if first != second:
        earlier, later = sorted((first, second))
        assert make_ids(earlier, 40)[-1] < make_id(later)


@given(instants)
def test_ids_are_uuid_version_7(now: datetime) -> None:
    """An id is a UUIDv7 of RFC 9562: version, variant, and the milliseconds in front."""
    made = make_id(now)
    assert (made.version, made.variant) == (7, RFC_4122)
    assert made.int >> 80 == (now - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def test_the_most_ids_stay_in_their_microsecond() -> None:
    """A call that makes as many as it may does not reach into the next microsecond, nor into version and variant."""
    last = make_ids(NOW, MOST_IDS)[-1]
    assert last < make_id(NOW + timedelta(microseconds=1))
    assert (last.version, last.variant) == (7, RFC_4122)


@pytest.mark.parametrize("count", [-1, MOST_IDS + 1])
def test_a_count_that_is_out_of_range_is_refused(count: int) -> None:
    """More ids than a call can order, or fewer than none, is a mistake of the caller."""
    with pytest.raises(ValueError, match="count"):
        make_ids(NOW, count)


def test_two_calls_at_one_instant_differ() -> None:
    """Two processes that make ids in the same microsecond make different ones."""
    assert len({make_id(NOW) for _ in range(1000)}) == 1000


def test_a_token_is_the_same_for_the_same_things() -> None:
    """MSG-10: what is named by what it stands for is named the same by everybody, and differently for anything else."""
    assert ids.token_for("slot", UUID(int=1), "a") == ids.token_for("slot", UUID(int=1), "a")
    assert ids.token_for("slot", UUID(int=1), "a") != ids.token_for("slot", UUID(int=2), "a")
