"""How often a property is tried: with HEADWAY_NIGHT=1 in the environment ten times as often as by day."""

import os

import pytest
from hypothesis import settings

NIGHT = os.environ.get("HEADWAY_NIGHT") == "1"
patient = pytest.mark.timeout(7200 if NIGHT else 60)


def examples(by_day: int) -> settings:
    """Settings for a property that takes its time."""
    return settings(max_examples=by_day * 10 if NIGHT else by_day, deadline=None)
