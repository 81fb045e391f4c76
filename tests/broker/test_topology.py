"""The topology as values."""

import pytest

from headway.broker.memory.routing import matches
from headway.broker.topology import Binding, Topology, level_for
from headway.messages.channels import Kind

T = Topology("acme.")


def test_names_carry_the_prefix() -> None:
    """MSG-03: every exchange and queue, and everything that an argument or a binding names, starts with the prefix."""
    names = [exchange.name for exchange in T.exchanges()]
    names += [str(exchange.arguments["alternate-exchange"]) for exchange in T.exchanges() if exchange.arguments]
    for queue in T.queues(["default"]):
        names += [queue.name, *(binding.exchange for binding in queue.bindings)]
        names += [str(value) for name, value in queue.arguments.items() if name == "x-dead-letter-exchange"]
    assert all(name.startswith("acme.") for name in names)
    assert T.short(T.full("run.default")) == "run.default"


def test_the_names_are_those_of_the_design() -> None:
    """MSG-03: with the usual prefix the names are those that operators know."""
    assert {queue.name for queue in Topology().queues(["default"])} == {
        "headway.run.default",
        "headway.scheduler.run-complete",
        "headway.workflow-engine.run-complete",
        "headway.dead",
        *(f"headway.delayed-retry.{level}" for level in (2, 4, 6, 8, 10)),
    }


def test_hints_are_classic_and_everything_else_is_quorum() -> None:
    """MSG-05, MSG-12: run queues are bounded priority queues; priorities and quorum exclude each other."""
    for queue in T.queues(["default"]):
        if queue.name == "acme.run.default":
            assert queue.arguments == {"x-max-length": 10_000, "x-overflow": "drop-head", "x-max-priority": 9}
        else:
            assert queue.arguments["x-queue-type"] == "quorum"
            assert "x-max-priority" not in queue.arguments


def test_levels_hand_back_reliably() -> None:
    """MSG-08: a level has one lifetime for all its messages and hands them back at least once, key unchanged."""
    level = T.level_queue(4)
    assert level.bindings == (Binding("acme.delayed-retry", "4.#"),)
    assert {
        name: level.arguments[name] for name in ("x-message-ttl", "x-dead-letter-exchange", "x-dead-letter-strategy", "x-overflow")
    } == {
        "x-message-ttl": 4000,
        "x-dead-letter-exchange": "acme.delayed-return",
        "x-dead-letter-strategy": "at-least-once",
        "x-overflow": "reject-publish",
    }
    assert "x-dead-letter-routing-key" not in level.arguments


@pytest.mark.parametrize(("tries", "level"), [(0, 2), (1, 2), (2, 4), (5, 10), (6, 10), (99, 10)])
def test_the_delay_grows_with_the_tries(tries: int, level: int) -> None:
    """MSG-08: 2 s times the tries, up to the longest level."""
    assert level_for(tries) == level


@pytest.mark.parametrize(
    ("kind", "binding", "key", "matched"),
    [
        ("direct", "default", "default", True),
        ("direct", "default", "other", False),
        ("fanout", "", "anything", True),
        ("topic", "*.acme.run.q", "2.acme.run.q", True),
        ("topic", "*.acme.run.q", "acme.run.q", False),
        ("topic", "2.#", "2.acme.run.q", True),
        ("topic", "2.#", "2", True),
        ("topic", "2.#", "22.acme", False),
        ("topic", "#.q", "a.b.q", True),
        ("topic", "#", "", True),
        ("topic", "alert.*", "alert.a.b", False),
    ],
)
def test_routing_is_that_of_rabbitmq(kind: Kind, binding: str, key: str, matched: bool) -> None:
    """The memory node matches keys as RabbitMQ does: a star is one word, a hash any number."""
    assert matches(kind, binding, key) is matched
