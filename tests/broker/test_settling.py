"""Which frames settle which deliveries."""

from hypothesis import given
from hypothesis import strategies as st

from headway.broker.settling import Frame, frames


@given(st.lists(st.integers(1, 60), unique=True, min_size=1).map(sorted), st.data())
def test_frames_settle_exactly_what_they_should(held: list[int], data: st.DataObject) -> None:
    """MSG-12: whatever part of the open tags is settled, the frames name each of them and none of the others."""
    settled = data.draw(st.lists(st.sampled_from(held), unique=True))
    left = [tag for tag in held if tag not in settled]
    open_tags = set(held)
    for frame in frames(settled, min(left, default=None)):
        gone = {tag for tag in open_tags if tag <= frame.tag} if frame.multiple else {frame.tag}
        assert gone <= open_tags
        open_tags -= gone
    assert open_tags == set(left)


def test_everything_is_one_frame() -> None:
    """performance.md, 7: what is all that is outstanding takes a single frame."""
    assert list(frames([7, 5, 6], None)) == [Frame(7, multiple=True)]
    assert list(frames([5, 6, 8], 7)) == [Frame(6, multiple=True), Frame(8, multiple=False)]
    assert list(frames([], 7)) == []
