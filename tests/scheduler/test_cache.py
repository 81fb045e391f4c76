"""What a scheduler keeps in memory."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from headway.core.schedule.rule import parse_rule
from headway.core.schedule.timeline import Timeline
from headway.core.slot import ScheduleView
from headway.scheduler.cache import Schedules
from headway.store.known import Known

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def known(number: int, every: str = "1m", decided_until: datetime = NOON, version: int = 1) -> Known:
    """A schedule that is due on a grid."""
    id_, timeline = UUID(int=number), Timeline(parse_rule({"every": every}))
    return Known(id_, "", "default", timeline, version, decided_until, f"job-{number}", UUID(int=0), "", ScheduleView(id_, timeline))


@given(st.lists(st.tuples(st.integers(1, 20), st.integers(1, 3600), st.integers(0, 7200)), max_size=60), st.integers(0, 7200))
def test_what_is_due_is_what_a_scan_would_find(puts: list[tuple[int, int, int]], passed: int) -> None:
    """After any sequence of puts, the due schedules are those whose next slot has come, the earliest first (COR-02, VER-03)."""
    cache, latest = Schedules(), dict[UUID, Known]()
    for number, seconds, decided in puts:
        one = known(number, f"{seconds}s", NOON + timedelta(seconds=decided))
        cache.put(one)
        latest[one.id] = one
    now = NOON + timedelta(seconds=passed)
    slots = {one.id: slot for one in latest.values() if (slot := one.timeline.next(one.decided_until)) is not None}
    due = cache.due(now, 100)
    assert {one.id for one in due} == {id_ for id_, slot in slots.items() if slot <= now}
    assert [slots[one.id] for one in due] == sorted(slots[one.id] for one in due)
    assert cache.next_due() == min(slots.values(), default=None)


def test_what_is_removed_is_never_due() -> None:
    """A schedule that was removed leaves the heap, also when its entry lies at the top (DEF-05)."""
    cache = Schedules()
    cache.put(known(1, "1s"))
    cache.put(known(2, "1h"))
    cache.remove([UUID(int=1)])
    assert [one.id.int for one in cache.due(NOON + timedelta(days=1), 10)] == [2]
    assert len(cache) == 1


def test_the_heap_does_not_grow_with_decisions() -> None:
    """Moving one schedule on ten thousand times leaves the memory flat."""
    cache = Schedules()
    for minute in range(10_000):
        cache.put(known(1, "1m", NOON + timedelta(minutes=minute)))
    assert len(cache._heap) < 2_000


def test_what_was_left_is_due_again() -> None:
    """A slot that was left to another scheduler is looked at again when the time for that has come, and was left until it is put."""
    cache, later = Schedules(), NOON + timedelta(minutes=1, milliseconds=500)
    cache.put(known(1, "1m"))
    cache.put(known(2, "1h"))
    cache.leave(UUID(int=1), later)
    assert cache.next_due() == later
    assert cache.due(later - timedelta(milliseconds=1), 10) == []
    assert [one.id.int for one in cache.due(later, 10)] == [1]
    assert cache.was_left(UUID(int=1))
    cache.put(known(1, "1m"))
    assert not cache.was_left(UUID(int=1))
    assert cache.next_due() == NOON + timedelta(minutes=1)


def test_nothing_is_due_twice_at_once() -> None:
    """A schedule whose next look went away from an instant and came back is due once (BB-035)."""
    cache = Schedules()
    for _ in range(3):
        cache.put(known(1, "1m"))
        cache.leave(UUID(int=1), NOON + timedelta(minutes=1, seconds=1))
    cache.put(known(1, "1m"))
    assert len(cache.due(NOON + timedelta(minutes=2), 10)) == 1


def test_leaving_what_is_gone_changes_nothing() -> None:
    """A schedule that was removed meanwhile cannot be left to anybody."""
    cache = Schedules()
    cache.leave(UUID(int=1), NOON)
    assert cache.next_due() is None
