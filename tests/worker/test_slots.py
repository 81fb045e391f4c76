"""Slots: how many attempts at once, and whose turn it is."""

from hypothesis import given
from hypothesis import strategies as st

from headway.worker.slots import Slots


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 20), st.booleans()), max_size=60))
def test_no_more_slots_than_there_are(moves: list[tuple[str, int, bool]]) -> None:
    """Whatever is taken and given, the total and every cap hold (MSG-12)."""
    slots = Slots(10, {"a": 3})
    held = dict.fromkeys("abc", 0)
    for queue, most, take in moves:
        if take:
            held[queue] += slots.take(queue, most)
        else:
            slots.give(queue, held[queue])
            held[queue] = 0
        assert slots.in_use == sum(held.values()) <= 10
        assert held["a"] <= 3


def test_a_flooded_queue_leaves_the_others_their_share() -> None:
    """A queue that always wants more cannot starve one that waits (MSG-14)."""
    slots = Slots(4)
    assert slots.take("flood", 100) == 4
    assert slots.take("quiet", 100) == 0
    slots.give("flood", 2)
    assert slots.take("flood", 100) == 1
    assert slots.take("quiet", 100) == 1


def test_a_queue_that_has_nothing_to_do_takes_no_share() -> None:
    """What an idle queue would have got goes to the busy one."""
    slots = Slots(4)
    slots.take("busy", 4)
    slots.take("idle", 4)
    slots.content("idle")
    slots.give("busy", 4)
    assert slots.take("busy", 100) == 4
