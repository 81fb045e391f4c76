"""The ledger: one decision for every slot."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from headway.core.errors import Invalid
from headway.core.slot import DecisionKind
from headway.store import slots
from headway.store.slots import RangeRecord, SlotRecord
from tests.store.scene import Scene

SCHEDULE = UUID(int=5)
AT = datetime(2026, 3, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def fired(at: datetime) -> SlotRecord:
    """A slot that fired at its own instant."""
    return SlotRecord(SCHEDULE, at, DecisionKind.FIRED, "", "", at, UUID(int=9), 1)


async def test_decisions_are_kept_with_who_and_when(scene: Scene) -> None:
    """OBS-06, invariant 2: a decision says what, why, who, when, and by which version and time zone data; the newest is listed first."""
    skipped = SlotRecord(SCHEDULE, AT + MINUTE, DecisionKind.SKIPPED, "overlap", "run 5 is open", AT + MINUTE, None, 2)
    async with scene.database.begin() as tx:
        await slots.record(tx, [fired(AT), skipped], actor="scheduler", tzdata="2026a")
        await slots.record_ranges(
            tx, [RangeRecord(SCHEDULE, AT - MINUTE, AT, DecisionKind.SKIPPED, "missed", "", 1, 1)], actor="scheduler", tzdata="2026a"
        )
        newest, oldest = await slots.listed(tx, SCHEDULE)
        assert [row["slot_at"] for row in await slots.listed(tx, SCHEDULE, before=AT + MINUTE)] == [AT]
        (stretch,) = await slots.ranges(tx, SCHEDULE)
    assert (newest["decision"], newest["reason"], newest["detail"]) == (DecisionKind.SKIPPED, "overlap", "run 5 is open")
    assert (oldest["run"], oldest["decided_by"], oldest["tzdata_version"]) == (UUID(int=9), "scheduler", "2026a")
    assert (stretch["from_at"], stretch["to_at"], stretch["slots"]) == (AT - MINUTE, AT, 1)


async def test_a_slot_is_decided_once(scene: Scene) -> None:
    """Invariant 1: the ledger itself refuses a second decision of a slot, and of a range that begins where another does."""
    stretch = RangeRecord(SCHEDULE, AT, AT + MINUTE, DecisionKind.SKIPPED, "missed", "", None, 1)
    async with scene.database.begin() as tx:
        await slots.record(tx, [fired(AT)], actor="a", tzdata="")
        await slots.record_ranges(tx, [stretch], actor="a", tzdata="")
    with pytest.raises(Invalid, match="recorded already"):
        async with scene.database.begin() as tx:
            await slots.record(tx, [fired(AT)], actor="b", tzdata="")
    with pytest.raises(Invalid, match="recorded already"):
        async with scene.database.begin() as tx:
            await slots.record_ranges(tx, [stretch], actor="b", tzdata="")


async def test_nothing_to_record_is_nothing_recorded(scene: Scene) -> None:
    """An empty list of decisions is no statement at all."""
    async with scene.database.begin() as tx:
        await slots.record(tx, [], actor="a", tzdata="")
        await slots.record_ranges(tx, [], actor="a", tzdata="")
        assert await slots.listed(tx, SCHEDULE) == []
