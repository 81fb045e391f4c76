"""The queues that a worker takes runs from, each with a cap of its own if it has one."""

from collections.abc import Sequence

from headway.core.errors import Invalid, Problem

FIELD = "HEADWAY_WORKER__QUEUES"


def parse_queues(named: Sequence[str]) -> dict[str, int | None]:
    """Return the cap of each queue: `reports=5` never holds more than five slots, `reports` as many as there are.

    Raises Invalid with every name that is wrong.
    """
    queues: dict[str, int | None] = {}
    problems: list[Problem] = []
    for text in named:
        name, capped, cap = text.partition("=")
        if not name or name in queues:
            problems.append(Problem(FIELD, f"{text!r} names no queue, or one that is named twice"))
        elif capped and not (cap.isascii() and cap.isdigit() and int(cap) > 0):
            problems.append(Problem(FIELD, f"{text!r} must be NAME or NAME=SLOTS with at least one slot"))
        else:
            queues[name] = int(cap) if capped else None
    if problems:
        raise Invalid(problems)
    return queues
