"""Which frames settle which deliveries: fewer frames for the same meaning.  Pure."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Frame(NamedTuple):
    """One acknowledgement or rejection: of one tag, or with `multiple` of every open tag up to it."""

    tag: int
    multiple: bool


def frames(tags: Sequence[int], lowest_open: int | None) -> Iterator[Frame]:
    """Yield the frames that settle exactly these tags, when `lowest_open` is the lowest tag that shall stay open.

    What lies below it is one `multiple`; the rest is settled one by one.
    """
    below = [tag for tag in tags if lowest_open is None or tag < lowest_open]
    if below:
        yield Frame(max(below), multiple=len(below) > 1)
    if len(below) < len(tags):
        yield from (Frame(tag, multiple=False) for tag in tags if lowest_open is not None and tag > lowest_open)
