"""Triggers: the end of a run of one definition asks for a run of another."""

from collections import Counter, deque
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar
from uuid import UUID

from headway.core.condition import OUTCOME_KEY, Condition, holds, read_condition
from headway.core.errors import Invalid, Problem
from headway.core.ids import token_for
from headway.core.outcome import SUCCESSES, Result, RunOutcome
from headway.core.parameters import NEW
from headway.core.reading import Reader, demand
from headway.core.secret import lookalikes
from headway.core.template import MOST_FACTS, Facts, flat

DEEPEST_CHAIN: Final = 32  # triggers between a run and the one that nobody triggered
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class TriggerDraft:
    """A trigger of a definition as somebody wants it; without a condition it fires when a run succeeded.

    `parameters` win over the defaults of the target, and may hold templates.
    """

    name: str
    target: str
    condition: Condition | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    description: str = ""
    enabled: bool = True


class Firing(NamedTuple):
    """A trigger that fires, as templates know it: what it asks for, and the run whose end fired it."""

    trigger: UUID
    name: str
    target: str
    run: UUID


def parse_trigger(document: Any, *, path: str = "") -> TriggerDraft:
    """Return one trigger's draft.  Raises Invalid with every problem."""
    problems: list[Problem] = []
    draft = read_trigger(Reader.of(document, path, problems))
    demand(problems)
    return draft


def parse_triggers(document: Any) -> dict[str, tuple[str, TriggerDraft]]:
    """Return the drafts of `{triggers: [{source, ...}]}` by the path of their fields, each with the definition whose runs fire it.

    Raises Invalid with every problem of the whole document.
    """
    problems: list[Problem] = []
    reader = Reader.of(document, "", problems)
    drafts = {}
    for index, one in enumerate(reader.items("triggers")):
        inner = Reader.of(one, f"triggers[{index}]", problems)
        drafts[f"triggers[{index}]."] = inner.name("source"), read_trigger(inner)
    if not drafts and not problems:
        reader.wrong("triggers", "is required and must name at least one trigger")
    reader.finish()
    times = Counter((source, draft.name) for source, draft in drafts.values() if source and draft.name)
    problems += [Problem("triggers", f"{name} of {source} is named twice") for (source, name), count in times.items() if count > 1]
    demand(problems)
    return drafts


def read_trigger(reader: Reader) -> TriggerDraft:
    """Return the draft of `{name, target, condition, parameters, description, enabled}` and note every problem.

    A trigger that has no name is named after its target.
    """
    target = reader.name("target")
    nameless = reader.take("name") in (None, "")
    draft = TriggerDraft(
        name=target if nameless else reader.name("name"),
        target=target,
        condition=_condition(reader),
        parameters=_parameters(reader),
        description=reader.text("description", limit=4000),
        enabled=reader.flag("enabled", True),
    )
    reader.finish()
    return draft


def fires(condition: Condition | None, outcome: RunOutcome, result: Result | None) -> bool:
    """Whether an end meets a condition: without one every success does.

    A run that left no result is matched by its outcome alone: nothing of it could differ from a value.
    """
    if condition is None:
        return outcome in SUCCESSES
    if result is None and condition.key != OUTCOME_KEY:
        return False
    return holds(condition, result or {}, outcome.word)


def circle(edges: Mapping[K, Collection[K]], start: K) -> list[K]:
    """Return the shortest way along edges from somewhere back to it, which stands at both ends; empty when there is none."""
    before: dict[K, K] = {}
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        for there in edges.get(here, ()):
            if there == start:
                return [*_way(before, start, here), start]
            if there not in before:
                before[there] = here
                waiting.append(there)
    return []


def facts_of_firing(firing: Firing, known: Mapping[str, Any], now: datetime) -> Facts:
    """Return what templates of a triggered run may name: `known` is what is known of the run that ended.

    It stands under `TriggeredBy` and `TriggeredByRun` alike, at most `MOST_FACTS` in all; `{TriggeredByRun}` alone is that run's id.
    """
    told = {name: fact for prefix in ("TriggeredBy", "TriggeredByRun") for name, fact in islice(flat(prefix, known), MOST_FACTS // 2)}
    return told | {
        "definition.name": firing.target,
        "trigger.name": firing.name,
        "trigger.id": firing.trigger,
        "triggeredbyrun": firing.run,
        "datetime.utcnow": now.astimezone(UTC),
        NEW: token_for("template", firing.trigger, firing.run),
    }


def _parameters(reader: Reader) -> Mapping[str, Any]:
    given = reader.mapping("parameters")
    reader.problems.extend(lookalikes(given, reader.at("parameters")))
    return given


def _condition(reader: Reader) -> Condition | None:
    document = reader.take("condition")
    if document is None:
        return None
    try:
        return read_condition(document, reader.at("condition"))
    except Invalid as error:
        reader.problems.extend(error.problems)
        return None


def _way(before: Mapping[K, K], start: K, end: K) -> list[K]:
    way = [end]
    while way[-1] != start:
        way.append(before[way[-1]])
    return way[::-1]
