"""A large batch whose scheduler and workers die on the way."""

import sys
import time
from functools import partial

import pytest

from tests.system.batching import Watch, make
from tests.system.fleet import Fleet, eventually

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(600)]
GOOD, BAD = 9_700, 300
TOTAL = GOOD + BAD
NAP = 0.3


async def test_ten_thousand_children_end_their_parent_once(fleet: Fleet) -> None:
    """10,000 children, whose scheduler and both workers are killed once on the way and started again: the parent ends exactly once, with
    the counts of all children, by progress that never falls, and every invariant holds (BAT-03, BAT-04, BAT-05)."""
    fleet.sync()
    victims = [fleet.start(role) for role in ("scheduler", "worker", "worker")]
    fleet.start("maintenance")
    await fleet.until("SELECT count(*) >= 3 FROM headway.session WHERE state = 1")
    began = time.monotonic()
    watch = Watch(fleet, await make(fleet, GOOD, BAD, NAP))
    made = time.monotonic() - began

    async def complete(count: int) -> bool:
        return await watch.look() >= count

    for number, victim in enumerate(victims, 1):
        await eventually(partial(complete, number * TOTAL // 5), 120, what=f"{number} of 5 parts complete", report=fleet.report)
        assert await fleet.value("SELECT count(*) > 0 FROM headway.run WHERE state = 3")
        victim.kill()
        fleet.members.remove(victim)
        fleet.start(victim.role)
    await eventually(lambda: complete(TOTAL), 240, what="all children complete", report=fleet.report)
    took = time.monotonic() - began
    sys.stdout.write(f"{TOTAL} children made in {made:.1f} s, ended in {took:.1f} s, {len(set(watch.seen))} steps of progress\n")
    assert await watch.ended() == {"outcome": 3, "total": TOTAL, "outcomes": {"success": GOOD, "failure": BAD}}
    watch.check(TOTAL)
    done = fleet.run("doctor")
    assert done.returncode == 0, done.stdout + done.stderr
