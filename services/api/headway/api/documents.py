"""Definitions as documents: what a row says in the words of `headway.core.draft`, so that what is read can be changed and sent back."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from headway.api.inputs import value_problems
from headway.api.params import problems_of, spec_problems
from headway.api.trigger_views import FACTS as TRIGGER_FACTS
from headway.core.definition import DefinitionDraft, Watch
from headway.core.draft import parse_definition
from headway.core.durations import format_duration
from headway.core.errors import Invalid, Problem
from headway.core.parameters import merged
from headway.core.reading import demand
from headway.core.secret import masked
from headway.store.tx import Row

PLAIN: Final = (
    "name",
    "handler",
    "description",
    "owner",
    "queue",
    "priority",
    "attempts",
    "parameters",
    "parameter_spec",
    "restartable",
    "allow_triggers",
    "max_concurrent_runs",
    "max_runs_per_hour",
    "over_limit",
    "retention_days",
    "overlap",
    "enabled",
)
SCHEDULE_PLAIN: Final = (
    "name",
    "description",
    "owner",
    "misfire",
    "misfire_limit",
    "overlap",
    "overlap_max",
    "parameters",
    "enabled",
)
SCHEDULE_SPANS: Final = ("misfire_max_age", "allowed_delay", "retry_horizon", "completion_target")
BACKOFF_SPANS: Final = ("base", "cap")
WATCH_SPANS: Final = ("breaker_reset", "expected_duration", "must_start_by", "heartbeat_tolerance", "heartbeat_grace")
FACTS: Final = frozenset(
    {
        "id",
        "tenant",
        "version",
        "source",
        "overridden",
        "paused_at",
        "paused_by",
        "paused_reason",
        "paused_until",
        "created_at",
        "updated_at",
    }
)
SCHEDULE_FACTS: Final = FACTS | {"definition", "broken", "decided_until", "chained_at"}
Shown = Callable[[Mapping[str, Any]], dict[str, Any]]
ONE_MILLISECOND: Final = timedelta(milliseconds=1)


def document_of(row: Row, schedules: Sequence[Row], *, parameters: Shown = masked) -> dict[str, Any]:
    """Return the document that would make a definition what its rows say; secrets are masked, and saved again they stay what they are.

    `parameters` shows them in another way.
    """
    return {name: row[name] for name in PLAIN} | {
        "parameters": parameters(row["parameters"]),
        "timeout": span_text(row["timeout"]),
        "retry_horizon": span_text(row["retry_horizon"]),
        "start_by": span_text(row["start_by"]),
        "backoff": _backoff(row["backoff"]),
        "watch": _watch(row["watch"]),
        "schedules": [schedule_document_of(one, parameters=parameters) for one in schedules],
        "restrictions": list(row["restrictions"]),
        **_calendars(row),
    }


def schedule_document_of(row: Row, *, parameters: Shown = masked) -> dict[str, Any]:
    """Return the document that would make a schedule what its row says."""
    plain = (
        {name: row[name] for name in SCHEDULE_PLAIN}
        | {name: span_text(row[name]) for name in SCHEDULE_SPANS}
        | {"payload": (row["payload"] or b"").decode(), "parameters": parameters(row["parameters"])}
    )
    chosen = _calendars(row)
    if row["calendars"] is None or (chosen["calendar"] and not chosen["calendars"]):
        chosen["calendars"] = None
    return plain | dict(row["rule"]) | chosen


def parse(document: Mapping[str, Any], tenant: str, path: str = "") -> DefinitionDraft:
    """Return the draft of a document; what reading added to it, such as its version, is passed over.

    Raises Invalid with every problem, those of parameters against their specification included.
    """
    demand(list(value_problems(document, path)))
    draft = parse_definition(_without_facts(document, tenant, path), path=path, tenant=tenant)
    demand(list(_parameter_problems(draft, path)))
    return draft


def parse_all(document: Mapping[str, Any], tenant: str) -> list[DefinitionDraft]:
    """Return the drafts of `{definitions: [...]}`.  Raises Invalid with every problem of the whole document."""
    given = document.get("definitions")
    problems = [Problem(name, "is not a known field") for name in document if name != "definitions"]
    if not isinstance(given, list) or not given:
        raise Invalid([*problems, Problem("definitions", "must be a list of at least one definition")])
    drafts = []
    for index, one in enumerate(given):
        try:
            drafts.append(parse(one, tenant, f"definitions[{index}]"))
        except Invalid as error:
            problems += error.problems
    times = Counter(draft.name for draft in drafts)
    problems += [Problem("definitions", f"{name} is named twice") for name in sorted(times) if times[name] > 1]
    demand(problems)
    return drafts


def patched(document: Any, patch: Any) -> Any:
    """Return a document after a JSON merge patch (RFC 7396): null removes, a list replaces."""
    if not isinstance(patch, Mapping):
        return patch
    result = dict(document) if isinstance(document, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = patched(result.get(name), value)
    return result


def span_text(span: timedelta | None) -> str | float | None:
    """Return a length of time as people write it, or as seconds where that would lose something."""
    if span is None:
        return None
    return span.total_seconds() if span % ONE_MILLISECOND else format_duration(span)


def _without_facts(document: Any, tenant: str, path: str) -> Any:
    if not isinstance(document, Mapping):
        return document
    if document.get("tenant", tenant) != tenant:
        raise Invalid.field(f"{path}.tenant".lstrip("."), "is decided by the credential, not by the document")
    kept = {name: value for name, value in document.items() if name not in FACTS}
    for name, facts in (("schedules", SCHEDULE_FACTS), ("triggers", TRIGGER_FACTS | {"source"})):
        if isinstance(document.get(name), list):
            kept[name] = [_without(one, facts) for one in document[name]]
    return kept


def _without(document: Any, names: frozenset[str]) -> Any:
    return {name: value for name, value in document.items() if name not in names} if isinstance(document, Mapping) else document


def _parameter_problems(draft: DefinitionDraft, path: str) -> list[Problem]:
    inside = f"{path}." if path else ""
    if unfit := spec_problems(draft.parameter_spec, f"{inside}parameter_spec"):
        return unfit
    problems = problems_of(draft.parameters, None, f"{inside}parameters")
    for index, schedule in enumerate(draft.schedules):
        given = merged(draft.parameters, schedule.parameters)
        problems += problems_of(given, draft.parameter_spec, f"{inside}schedules[{index}].parameters")
    return problems


def _calendars(row: Row) -> dict[str, Any]:
    """The calendars of a row: shared ones by name, an inline one by its windows."""
    used = row["used"] or []
    inline = next(({"windows": one["windows"]} for one in used if one["windows"] is not None), None)
    return {"calendars": [one["name"] for one in used if one["windows"] is None], "calendar": inline}


def _backoff(kept: Mapping[str, Any]) -> dict[str, Any] | None:
    if not kept:
        return None
    return {**kept, **{name: _seconds(kept[name]) for name in BACKOFF_SPANS}, "delays": [_seconds(delay) for delay in kept["delays"]]}


def _watch(kept: Mapping[str, Any]) -> dict[str, Any] | None:
    known = {name: value for name, value in kept.items() if name in Watch.__slots__}
    return {name: _seconds(value) if name in WATCH_SPANS else value for name, value in known.items()} or None


def _seconds(kept: float | None) -> str | float | None:
    return None if kept is None else span_text(timedelta(seconds=kept))
