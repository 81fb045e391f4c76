"""Queues and their caps as settings name them."""

import pytest

from headway.core.errors import Invalid
from headway.worker.queues import parse_queues


def test_a_queue_may_have_a_cap() -> None:
    """Several queues, each with its own cap or none (MSG-14)."""
    assert parse_queues(["default", "reports=5"]) == {"default": None, "reports": 5}


def test_every_wrong_name_is_said() -> None:
    """Each queue that cannot be understood is one problem of the setting (CFG-02)."""
    with pytest.raises(Invalid) as refused:
        parse_queues(["a=0", "b=many", "=3", "c", "c"])
    assert [problem.field for problem in refused.value.problems] == ["HEADWAY_WORKER__QUEUES"] * 4
