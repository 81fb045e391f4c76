"""The broker is disposable: whatever happens to it, accepted work is done, once."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.harness.plugin import MakeNode
from tests.harness.rabbit import RabbitNode
from tests.system.fleet import Fleet, fleet_in
from tests.system.test_fleet import enqueue

pytestmark = [pytest.mark.system, pytest.mark.timeout(240)]


@pytest.fixture
def own(tmp_path: Path, database_url: str, rabbit_node: RabbitNode) -> Iterator[Fleet]:
    """A fleet whose broker a test may kill."""
    with fleet_in(tmp_path, database_url, rabbit_node.url) as members:
        yield members


async def test_creates_succeed_while_the_broker_is_down(own: Fleet, rabbit_node: RabbitNode) -> None:
    """With the broker away runs are accepted, and run by fill (MSG-07, MSG-16, BB-073)."""
    own.sync()
    own.start("worker", "--queue", "default")
    await own.until("SELECT count(*) = 1 FROM headway.session WHERE kind = 'worker'")
    await rabbit_node.kill()
    assert await enqueue(own, "nap", 50) < 1
    await own.until("SELECT count(*) = 50 FROM headway.run_done WHERE state = 4", within=10)


async def test_a_wiped_broker_loses_nothing(own: Fleet, rabbit_node: RabbitNode) -> None:
    """Stopping the broker, deleting its data directory and starting it again while 20,000 runs are queued: all finish, each once, and
    work goes on within two seconds (promise 3)."""
    own.sync()
    await enqueue(own, "nap", 20_000)
    own.start("worker", "--queue", "default", "--concurrency", "200")
    own.start("worker", "--queue", "default", "--concurrency", "200")
    await own.until("SELECT count(*) >= 1000 FROM headway.run_done", within=30)
    await rabbit_node.wipe()
    await rabbit_node.start()
    await own.until("SELECT count(*) = 20000 FROM headway.run_done WHERE state = 4", within=120)
    assert max(Counter((start["run"], start["attempt"]) for start in own.starts()).values()) == 1
    assert await own.value("SELECT max(attempt) FROM headway.run_done") == 1
    longest = await own.value(
        "SELECT max(gap) FROM (SELECT finished_at - lag(finished_at) OVER (ORDER BY finished_at) gap FROM headway.run_done) gaps"
    )
    assert longest < timedelta(seconds=2)


async def test_the_acknowledgement_timeout_never_matters(tmp_path: Path, database_url: str, make_rabbit_node: MakeNode) -> None:
    """With a broker that gives up on deliveries after 5 s, a handler of 20 s is not repeated; a saturated worker holds no message, and
    an idle one gets the next run at once (BB-036, BB-053, MSG-12)."""
    node = make_rabbit_node(consumer_timeout=timedelta(seconds=5))
    await node.start()
    with fleet_in(tmp_path, database_url, node.url) as own:
        own.sync()
        own.start("worker", "--queue", "default", "--concurrency", "2")
        await own.until("SELECT count(*) = 1 FROM headway.session WHERE kind = 'worker'")
        await enqueue(own, "nap", 2, '{"seconds": 20}')
        await own.until("SELECT count(*) = 2 FROM headway.run WHERE state = 3")
        await enqueue(own, "nap", 1)
        own.start("worker", "--queue", "default", "--concurrency", "2")
        await own.until("SELECT count(*) = 1 FROM headway.run_done WHERE state = 4", within=10)
        await own.until("SELECT count(*) = 3 FROM headway.run_done WHERE state = 4", within=30)
        assert len(own.starts()) == 3
        assert not [member for member in own.members if "PRECONDITION_FAILED" in member.said()]
