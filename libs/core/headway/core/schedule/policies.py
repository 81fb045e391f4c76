"""What becomes of a local time that a clock change removes or repeats."""

from enum import Enum


class Gap(Enum):
    """The local time does not exist: no slot, the first real instant after the gap, or the time moved by the gap's length."""

    SKIP = "skip"
    NEXT_VALID = "next_valid"
    SHIFT_FORWARD = "shift_forward"


class Fold(Enum):
    """The local time happens twice: the slot is its first instant, its second, or both."""

    FIRST = "first"
    SECOND = "second"
    BOTH = "both"
