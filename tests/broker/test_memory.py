"""The memory broker, held to what every broker promises."""

from datetime import timedelta

import pytest

from headway.broker import Letter, Receipt, connect
from headway.core.errors import Invalid, Unavailable
from tests.broker.conformance import Conformance
from tests.broker.conftest import MakeBroker
from tests.broker.counted_conformance import CountedConformance


class _OverMemory:
    @pytest.fixture
    def make(self, make_memory: MakeBroker) -> MakeBroker:
        """The memory adapter."""
        return make_memory


class TestMemory(_OverMemory, Conformance):
    """MSG-01 to MSG-17 in one process."""


class TestMemoryCounted(_OverMemory, CountedConformance):
    """MSG-08 and MSG-17 in one process."""


async def test_a_full_run_queue_drops_its_head(make_memory: MakeBroker) -> None:
    """MSG-12: a queue of hints holds 10,000 and then drops the first in line, as the broker's does."""
    broker = await make_memory()
    for number in range(10_002):
        await broker.publish(Letter("run-created", "default", b"%d" % number, "x"))
    assert await broker.depth("run.default") == 10_000
    consumer = await broker.consume("run.default", prefetch=1)
    assert (await consumer.receive())[0].body == b"2"


async def test_brokers_without_a_name_share_nothing() -> None:
    """Two memory brokers meet only where they name the same node."""
    one, two = connect("memory://"), connect("memory://")
    await one.open()
    await two.open()
    await one.declare_run_queues(["default"])
    assert await one.publish(Letter("run-created", "default", b"", "x", mandatory=True)) is Receipt.CONFIRMED
    assert await two.depth("run.default") is None


async def test_a_broker_that_is_not_open_is_unavailable() -> None:
    """Waiting for a broker that nobody opened ends with Unavailable."""
    with pytest.raises(Unavailable):
        await connect("memory://").ready(timedelta(seconds=0.01))


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", "the scheme must be amqp, amqps or memory"),
        ("redis://:hunter2@host", "the scheme must be amqp, amqps or memory"),
        ("localhost", "the scheme must be amqp, amqps or memory"),
        ("amqp://", "it names no host"),
        ("amqp://guest:hunter2@host:port", "host or port cannot be read"),
    ],
)
def test_a_wrong_url_is_invalid(url: str, message: str) -> None:
    """CFG: a URL of another kind is one clear message with the field's name, and does not repeat what may be a password."""
    with pytest.raises(Invalid, match=f"broker_url: {message}") as caught:
        connect(url)
    assert "hunter2" not in str(caught.value)
