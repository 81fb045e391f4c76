"""Names of parameters: one that a job does not take is refused, wherever it is written."""

from dataclasses import dataclass, field
from typing import Any, NotRequired

import pytest
from jsonschema import Draft202012Validator
from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field, RootModel, model_validator
from typing_extensions import TypedDict

from headway.core.errors import Invalid
from headway.sdk import Headway, Run, cron


class Plain(BaseModel):
    """As most people write one."""

    customer: str = ""
    pages: int = 1


class Aliased(BaseModel):
    """A field for each kind of alias."""

    plain: int = Field(1, alias="short")
    chosen: int = Field(1, validation_alias=AliasChoices("first", "second"))
    deep: int = Field(1, validation_alias=AliasPath("outer", 0))


class EitherName(BaseModel):
    """A field that is known by its alias and its name."""

    model_config = ConfigDict(validate_by_name=True)
    customer: str = Field("", alias="kunde")


class Tree(BaseModel):
    """A type that is made of itself."""

    child: "Tree | None" = None

    @model_validator(mode="after")
    def _as_it_is(self) -> "Tree":
        return self


class Entry(TypedDict):
    """A typed dictionary."""

    customer: NotRequired[str]


@dataclass
class Record:
    """A dataclass with a field that nobody gives."""

    customer: str = ""
    made: int = field(default=0, init=False)


class Open(BaseModel):
    """A model that takes any name."""

    model_config = ConfigDict(extra="allow")


class Reading(BaseModel):
    """A model that reads what it is given itself."""

    customer: str = ""

    @model_validator(mode="before")
    @classmethod
    def _old_name(cls, given: Any) -> Any:
        return {"customer": given["client"]} if isinstance(given, dict) and "client" in given else given


class Anything(RootModel[dict[str, int]]):
    """A mapping of any names."""


def job_of(kind: type) -> Any:
    """A job whose parameters are one value of a type."""

    async def report(wanted: Any) -> None: ...

    report.__annotations__["wanted"] = kind
    return Headway().job(report)


def accepts(job: Any, given: dict[str, Any]) -> bool:
    """Whether an ask takes parameters; its specification must say the same."""
    spec = job.draft().parameter_spec
    by_spec = spec is None or Draft202012Validator(spec).is_valid(given)
    try:
        job.ask(given)
    except Invalid as error:
        assert not by_spec, error
        return False
    assert by_spec
    return True


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (Plain, ["customer", "pages"]),
        (Aliased, ["short", "first", "second", "outer"]),
        (EitherName, ["customer", "kunde"]),
        (Tree, ["child"]),
        (Entry, ["customer"]),
        (Record, ["customer"]),
    ],
)
def test_a_name_that_is_not_known_is_refused(kind: type, names: list[str]) -> None:
    """RUN-09, TPL-01: a misspelled name is refused by ask and specification alike, whatever kind of type takes the parameters."""
    job = job_of(kind)
    values: dict[str, Any] = {"customer": "a", "kunde": "a", "child": None, "outer": [1]}
    for name in names:
        assert accepts(job, {name: values.get(name, 1)})
    assert not accepts(job, {"bogus": 1})
    with pytest.raises(Invalid) as refused:
        job.ask({"bogus": 1})
    (problem,) = refused.value.problems
    assert str(problem) == f"parameters.bogus: is not a known parameter: known are {', '.join(sorted(names))}"


@pytest.mark.parametrize(
    ("kind", "given"), [(Open, {"any": 1}), (Reading, {"client": "a"}), (Reading, {"bogus": 1}), (Anything, {"any": 1})]
)
def test_a_type_that_takes_any_name_decides_itself(kind: type, given: dict[str, Any]) -> None:
    """TPL-01: a model that says extra="allow", that reads its input itself, or that is a mapping is asked for no list of names."""
    assert accepts(job_of(kind), given)


def test_a_job_without_parameters_takes_none() -> None:
    """RUN-09: a name for a job that takes none is refused; one that is given its run reads what it likes."""
    app = Headway()

    @app.job
    async def nothing() -> None: ...

    @app.job
    async def free(run: Run) -> None: ...

    assert accepts(nothing, {})
    assert not accepts(nothing, {"bogus": 1})
    assert accepts(free, {"any": 1})
    with pytest.raises(Invalid, match=r"parameters\.bogus: is not a known parameter: there are none"):
        nothing.ask({"bogus": 1})


def test_all_problems_of_parameters_are_named_together() -> None:
    """API-02: a wrong value and an unknown name are said at once, each once."""
    app = Headway()

    @app.job
    async def report(customer: str, pages: int = 1) -> None: ...

    for job in (report, job_of(Plain)):
        with pytest.raises(Invalid) as refused:
            job.ask({"customer": "a", "pages": "x", "bogus": 1})
        assert sorted(problem.field for problem in refused.value.problems) == ["parameters.bogus", "parameters.pages"]


def test_a_schedules_unknown_name_is_refused() -> None:
    """DEF-08: a schedule's parameters are held to the same names, at the declaration's check."""
    app = Headway()

    @app.job(schedule=cron("0 7 * * *", params={"bogus": 1}))
    async def report(wanted: Plain) -> None: ...

    with pytest.raises(Invalid, match=r"report\.schedules\[0\]\.parameters\.bogus: is not a known parameter"):
        report.draft()
