"""What the SDK refuses to ask for, as the other doors do."""

from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from headway.core.ask import problems_of
from headway.core.errors import Invalid
from headway.sdk import Headway

app = Headway()


class Anything(BaseModel):
    """Parameters of any name."""

    model_config = ConfigDict(extra="allow")


@app.job
async def take(params: Anything) -> None:
    """Take anything."""


def nested(levels: int) -> Any:
    """Lists within lists."""
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [10**5000, 10**30, -(10**19), nested(100), "x\0", {"a": {"b": "\0"}}, "\ud800", nested(3000), object(), float("nan")],
    ids=["5,000 digits", "31 digits", "20 digits", "100 deep", "NUL", "NUL inside", "half a character", "3,000 deep", "object", "NaN"],
)
def test_what_no_door_takes_is_refused_with_its_name(value: Any) -> None:
    """RUN-14, RUN-16: what the database or a reader would refuse is never accepted, and the answer names parameters."""
    with pytest.raises(Invalid) as refused:
        take.ask({"a": value})
    assert all(problem.field.startswith("parameters") for problem in refused.value.problems)


@pytest.mark.parametrize("value", [2**63 - 1, nested(60), "\\u0000 in words", "[" * 500, '"[{', "1" * 30], ids=str)
def test_what_only_looks_like_it_is_taken(value: Any) -> None:
    """Text that speaks of brackets, digits or NUL is text."""
    assert take.ask({"a": value}).params is not None


@pytest.mark.parametrize("key", [5, "", "a\0", "x" * 129])
def test_a_key_is_text_that_can_be_printed(key: Any) -> None:
    """RUN-09: one fault, one message."""
    assert [problem.field for problem in problems_of(take.ask({}, key=key))] == ["key"]
