"""Times of a day that a rule takes, as seconds since midnight on the clock."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class Times(Protocol):
    """A set of times of a day, never empty unless it says so by its total."""

    @property
    def total(self) -> int:
        """How many times there are."""

    def lowest(self, second: int) -> int:
        """Return the first time at or after a second, or -1."""

    def highest(self, second: int) -> int:
        """Return the last time at or before a second, or -1."""

    def below(self, second: int) -> int:
        """Return how many times lie before a second."""


@dataclass(frozen=True, slots=True)
class Listed:
    """Times from an ordered sequence, which may be a range."""

    seconds: Sequence[int]

    @property
    def total(self) -> int:
        """How many times there are."""
        return len(self.seconds)

    def lowest(self, second: int) -> int:
        """Return the first time at or after a second, or -1."""
        index = bisect_left(self.seconds, second)
        return self.seconds[index] if index < len(self.seconds) else -1

    def highest(self, second: int) -> int:
        """Return the last time at or before a second, or -1."""
        index = bisect_right(self.seconds, second)
        return self.seconds[index - 1] if index else -1

    def below(self, second: int) -> int:
        """Return how many times lie before a second."""
        return bisect_left(self.seconds, second)


@dataclass(frozen=True, slots=True)
class Fields:
    """Times whose hour, minute and second are each in a set of their own, given as masks that are never empty."""

    hours: int
    minutes: int
    seconds: int

    @property
    def total(self) -> int:
        """How many times there are."""
        return self.hours.bit_count() * self.minutes.bit_count() * self.seconds.bit_count()

    def lowest(self, second: int) -> int:
        """Return the first time at or after a second, or -1."""
        hour, minute, second = second // 3600, second // 60 % 60, second % 60
        if self.hours >> hour & 1:
            if self.minutes >> minute & 1 and (found := lowest(self.seconds, second)) >= 0:
                return hour * 3600 + minute * 60 + found
            if (found := lowest(self.minutes, minute + 1)) >= 0:
                return hour * 3600 + found * 60 + lowest(self.seconds, 0)
        if (found := lowest(self.hours, hour + 1)) >= 0:
            return found * 3600 + lowest(self.minutes, 0) * 60 + lowest(self.seconds, 0)
        return -1

    def highest(self, second: int) -> int:
        """Return the last time at or before a second, or -1."""
        hour, minute, second = second // 3600, second // 60 % 60, second % 60
        if self.hours >> hour & 1:
            if self.minutes >> minute & 1 and (found := highest(self.seconds, second)) >= 0:
                return hour * 3600 + minute * 60 + found
            if (found := highest(self.minutes, minute - 1)) >= 0:
                return hour * 3600 + found * 60 + highest(self.seconds, 59)
        if (found := highest(self.hours, hour - 1)) >= 0:
            return found * 3600 + highest(self.minutes, 59) * 60 + highest(self.seconds, 59)
        return -1

    def below(self, second: int) -> int:
        """Return how many times lie before a second."""
        hour, minute, second = second // 3600, second // 60 % 60, second % 60
        total = _below(self.hours, hour) * self.minutes.bit_count() * self.seconds.bit_count()
        if self.hours >> hour & 1:
            total += _below(self.minutes, minute) * self.seconds.bit_count()
            if self.minutes >> minute & 1:
                total += _below(self.seconds, second)
        return total


def lowest(mask: int, value: int) -> int:
    """Return the lowest member of a mask that is at least `value`, or -1."""
    rest = mask >> value
    return value + (rest & -rest).bit_length() - 1 if rest else -1


def highest(mask: int, value: int) -> int:
    """Return the highest member of a mask that is at most `value`, or -1."""
    return (mask & ((2 << value) - 1)).bit_length() - 1 if value >= 0 else -1


def _below(mask: int, value: int) -> int:
    return (mask & ((1 << value) - 1)).bit_count()
