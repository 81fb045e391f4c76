"""What an ask may say."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from headway.core.ask import LARGEST_INPUT, Ask, problems_of

NOW = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("definition", {"definition": "a\x00"}),
        ("tenant", {"tenant": "x" * 300}),
        ("key", {"key": ""}),
        ("key", {"key": "a\nb"}),
        ("key", {"key": "k" * 129}),
        ("correlation", {"correlation": "\ud800"}),
        ("priority", {"priority": 10}),
        ("parameters", {"params": "x" * (LARGEST_INPUT + 1)}),
        ("payload", {"payload": b"x" * (LARGEST_INPUT + 1)}),
        ("at", {"at": NOW.replace(tzinfo=None)}),
        ("delay", {"at": NOW, "delay": timedelta(1)}),
        ("delay", {"delay": timedelta(seconds=-1)}),
    ],
    ids=str,
)
def test_what_no_database_could_take_is_named(field: str, given: dict[str, Any]) -> None:
    """RUN-09, RUN-16: each thing that is wrong with an ask is one problem of its field."""
    assert [problem.field for problem in problems_of(Ask(**{"definition": "d", **given}))] == [field]


def test_everything_else_is_fine() -> None:
    """RUN-09: any printable key of 1 to 128 characters, any language, any instant with an offset."""
    ask = Ask("d", key="Rechnung Nr. 42: ü", correlation="übrigens", params="{}", priority=0, at=NOW)
    assert problems_of(ask) == []
    assert problems_of(Ask("d", key="k" * 128, payload=b"")) == []


def test_an_ask_is_due_at_its_instant_or_after_its_delay() -> None:
    """RUN-17: a delay counts from acceptance; neither means at once."""
    assert Ask("d").due(NOW) is None
    assert Ask("d", at=NOW).due(NOW + timedelta(1)) == NOW
    assert Ask("d", delay=timedelta(hours=1)).due(NOW) == NOW + timedelta(hours=1)
    assert (Ask("d", tenant="t").owner, Ask("d", tenant="t", definition_tenant="").owner) == ("t", "")
