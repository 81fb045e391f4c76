"""What is known of the database's clock."""

from datetime import UTC, datetime, timedelta

from headway.store.reckoning import Reckoning


def test_a_clock_that_was_not_read_is_not_known() -> None:
    """LSE-09: no host's clock stands in for the database's."""
    assert Reckoning().now() is None


def test_it_only_rises() -> None:
    """Ids made by it rise, also when the database's clock is stepped back."""
    reckoning, read = Reckoning(), datetime(2026, 1, 1, tzinfo=UTC)
    reckoning.note(read)
    first = reckoning.now()
    reckoning.note(read - timedelta(hours=1))
    second = reckoning.now()
    assert first is not None
    assert second is not None
    assert read <= first < second < read + timedelta(seconds=5)
