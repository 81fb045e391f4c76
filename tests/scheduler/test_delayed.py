"""Slots that fire later than their schedule allows."""

from datetime import timedelta

from structlog.testing import capture_logs

from headway.scheduler.decide import measure
from tests.store.ledger import START, Ledger
from tests.store.scene import Scene

MINUTE = timedelta(minutes=1)


async def test_whoever_owns_a_schedule_hears_of_a_late_slot(scene: Scene) -> None:
    """DEF-19: a slot that fires beyond the allowed delay is told of with how late it was, one within it is not."""
    ledger = await Ledger(scene).begin({"every": "10m"}, misfire="run_once", allowed_delay=MINUTE, overlap="allow", overlap_max=9)
    in_time = await ledger.decide(START + 10 * MINUTE + timedelta(seconds=30))
    await ledger.end((await ledger.runs())[0])
    late = await ledger.decide(START + 22 * MINUTE)
    with capture_logs() as logs:
        measure(in_time)
        measure(late)
    [said] = [one for one in logs if one["event"] == "slot fired later than allowed"]
    assert (said["definition"], said["schedule"], said["slot_at"]) == ("job", "default", START + 20 * MINUTE)
    assert said["late"] == "120000ms" or said["late"].startswith("12000")
