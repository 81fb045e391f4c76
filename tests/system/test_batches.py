"""A batch under whole processes."""

import pytest

from tests.system.batching import Watch, make
from tests.system.fleet import Fleet, eventually

pytestmark = [pytest.mark.system, pytest.mark.timeout(60)]
GOOD, BAD = 290, 10


async def test_a_batch_ends_once_under_two_workers_and_two_schedulers(fleet: Fleet) -> None:
    """300 children end under two workers and two schedulers: the parent ends once, with their counts, by progress that never falls
    (BAT-03, BAT-04, BAT-05)."""
    fleet.sync()
    for role in ("scheduler", "worker"):
        for _ in range(2):
            fleet.start(role)
    await fleet.until("SELECT count(*) >= 4 FROM headway.session WHERE state = 1")
    watch = Watch(fleet, await make(fleet, GOOD, BAD))

    async def all_done() -> bool:
        return await watch.look() == GOOD + BAD

    await eventually(all_done, 20, what="all children complete", report=fleet.report)
    assert await watch.ended() == {"outcome": 3, "total": GOOD + BAD, "outcomes": {"success": GOOD, "failure": BAD}}
    watch.check(GOOD + BAD)
