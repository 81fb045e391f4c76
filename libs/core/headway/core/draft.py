"""Read a definitions document: every problem at once, each with its field's path, or drafts that may be stored."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from headway.core.ask import LARGEST_INPUT
from headway.core.calendar.draft import read_inline
from headway.core.definition import BUILT_IN_QUEUE, DefinitionDraft, ScheduleDraft, Watch
from headway.core.errors import Invalid, Problem
from headway.core.reading import NAME as NAME  # those who make documents keep to it
from headway.core.reading import Reader, demand
from headway.core.retry import DAY, Backoff, BackoffKind
from headway.core.schedule.rule import RULE_FIELDS, Rule, parse_rule
from headway.core.secret import lookalikes
from headway.core.trigger import TriggerDraft, read_trigger

MISFIRES: Final = ("skip", "run_once", "run_all")
OVERLAPS: Final = ("skip", "delay", "allow", "cancel_previous")
_LARGE: Final = 1_000_000


def parse_document(document: Any, *, tenant: str = "") -> list[DefinitionDraft]:
    """Return the drafts of `{definitions: [...]}`.  Raises Invalid with every problem of the whole document."""
    problems: list[Problem] = []
    reader = Reader.of(document, "", problems)
    drafts = [_definition(one, f"definitions[{index}]", problems, tenant) for index, one in enumerate(reader.items("definitions"))]
    if not drafts and not problems:
        problems.append(Problem("definitions", "is required and must name at least one definition"))
    reader.finish()
    _unique([f"{draft.tenant}/{draft.name}" if draft.tenant else draft.name for draft in drafts], "definitions", problems)
    demand(problems)
    return drafts


def parse_definition(document: Any, *, path: str = "", tenant: str = "") -> DefinitionDraft:
    """Return one draft.  Raises Invalid with every problem."""
    problems: list[Problem] = []
    draft = _definition(document, path, problems, tenant)
    demand(problems)
    return draft


def parse_schedule(document: Any, *, path: str = "") -> ScheduleDraft:
    """Return one schedule's draft.  Raises Invalid with every problem."""
    problems: list[Problem] = []
    draft = _schedule(document, path, problems)
    demand(problems)
    return draft


def _definition(document: Any, path: str, problems: list[Problem], tenant: str) -> DefinitionDraft:
    reader = Reader.of(document, path, problems)
    name = reader.name("name")
    schedules = [_schedule(one, reader.at(f"schedules[{index}]"), problems) for index, one in enumerate(reader.items("schedules"))]
    _unique([schedule.name for schedule in schedules], reader.at("schedules"), problems)
    draft = DefinitionDraft(
        name=name,
        handler=reader.text("handler", name) or name,
        tenant=reader.text("tenant", tenant),
        description=reader.text("description", limit=4000),
        owner=reader.text("owner"),
        queue=reader.name("queue", BUILT_IN_QUEUE),
        priority=reader.whole("priority", 0, 0, 9),
        timeout=reader.span("timeout") or timedelta(),
        attempts=reader.whole("attempts", 1, 1, 30_000),
        backoff=_backoff(reader.take("backoff"), reader.at("backoff"), problems),
        retry_horizon=reader.span("retry_horizon"),
        start_by=reader.span("start_by"),
        parameters=_parameters(reader),
        parameter_spec=reader.mapping("parameter_spec") or None,
        restartable=reader.flag("restartable", True),
        allow_triggers=reader.flag("allow_triggers", True),
        max_concurrent_runs=reader.whole("max_concurrent_runs", 0, 0, _LARGE),
        max_runs_per_hour=reader.whole("max_runs_per_hour", 0, 0, _LARGE),
        over_limit=reader.choice("over_limit", "hold", ("hold", "refuse")),
        retention_days=reader.whole("retention_days", 30, 0, 36_500),
        overlap=reader.choice("overlap", "skip", OVERLAPS),
        watch=_watch(reader.take("watch"), reader.at("watch"), problems),
        calendars=_names(reader, "calendars", "a calendar"),
        calendar=read_inline(reader),
        enabled=reader.flag("enabled", True),
        schedules=tuple(schedules),
        restrictions=_restrictions(reader),
        triggers=_triggers(reader),
    )
    reader.finish()
    return draft


def _triggers(reader: Reader) -> tuple[TriggerDraft, ...] | None:
    if reader.take("triggers") is None:
        return None
    given = enumerate(reader.items("triggers"))
    drafts = [read_trigger(Reader.of(one, reader.at(f"triggers[{index}]"), reader.problems)) for index, one in given]
    _unique([draft.name for draft in drafts], reader.at("triggers"), reader.problems)
    return tuple(drafts)


def _schedule(document: Any, path: str, problems: list[Problem]) -> ScheduleDraft:
    reader = Reader.of(document, path, problems)
    rule = _rule({field: value for field in RULE_FIELDS if (value := reader.take(field)) is not None}, path, problems)
    draft = ScheduleDraft(
        name=reader.name("name", "default"),
        rule=rule,
        description=reader.text("description", limit=4000),
        owner=reader.text("owner"),
        misfire=reader.choice("misfire", "skip", MISFIRES),
        misfire_max_age=_age(reader),
        misfire_limit=reader.whole("misfire_limit", 100, 1, 10_000),
        overlap=reader.choice("overlap", "skip", OVERLAPS),
        overlap_max=reader.whole("overlap_max", 2, 1, _LARGE),
        calendars=None if reader.take("calendars") is None else _names(reader, "calendars", "a calendar"),
        calendar=read_inline(reader),
        parameters=_parameters(reader),
        payload=reader.text("payload", limit=LARGEST_INPUT),
        allowed_delay=reader.span("allowed_delay"),
        retry_horizon=reader.span("retry_horizon"),
        completion_target=reader.span("completion_target"),
        enabled=reader.flag("enabled", True),
    )
    reader.finish()
    return draft


def _parameters(reader: Reader) -> Mapping[str, Any]:
    given = reader.mapping("parameters")
    reader.problems.extend(lookalikes(given, reader.at("parameters")))
    return given


def _age(reader: Reader) -> timedelta:
    given = reader.span("misfire_max_age")
    return timedelta(days=1) if given is None else given


def _restrictions(reader: Reader) -> tuple[str, ...] | None:
    if reader.take("restrictions") is None:
        return None
    names = _names(reader, "restrictions", "a definition")
    _unique(names, reader.at("restrictions"), reader.problems)
    return names


def _names(reader: Reader, field: str, of: str) -> tuple[str, ...]:
    names = reader.items(field)
    for number, name in enumerate(names):
        if not isinstance(name, str) or not name:
            reader.wrong(f"{field}[{number}]", f"must be {of}'s name")
    return tuple(name for name in names if isinstance(name, str) and name)


def _rule(document: Mapping[str, Any], path: str, problems: list[Problem]) -> Rule:
    try:
        return parse_rule(document)
    except Invalid as error:
        inside = f"{path}." if path else ""
        problems.extend(Problem(f"{inside}{problem.field}", problem.message) for problem in error.problems)
        return parse_rule({"every": "1d"})


def _backoff(document: Any, path: str, problems: list[Problem]) -> Backoff:
    if document is None:
        return Backoff()
    reader = Reader.of(document, path, problems)
    kind = BackoffKind(reader.choice("kind", "linear", [kind.value for kind in BackoffKind]))
    delays = [_delay(one, f"{path}.delays[{index}]", problems) for index, one in enumerate(reader.items("delays"))]
    if kind is BackoffKind.LIST and not delays:
        reader.wrong("delays", "is required for kind list")
    base, cap = reader.span("base"), reader.span("cap")
    backoff = Backoff(
        kind,
        base if base is not None else Backoff().base,
        reader.fraction("factor", 2.0, 1.0, 100.0),
        min(cap, DAY) if cap is not None else DAY,
        reader.fraction("jitter", 0.25 if kind is BackoffKind.EXPONENTIAL else 0.0, 0.0, 1.0),
        tuple(delays),
    )
    reader.finish()
    return backoff


def _delay(value: Any, path: str, problems: list[Problem]) -> timedelta:
    return Reader({path: value}, "", problems).span(path) or timedelta()


def _watch(document: Any, path: str, problems: list[Problem]) -> Watch:
    if document is None:
        return Watch()
    reader, plain = Reader.of(document, path, problems), Watch()
    watch = Watch(
        breaker_threshold=reader.whole("breaker_threshold", 0, 0, _LARGE),
        breaker_reset=reader.span("breaker_reset") or plain.breaker_reset,
        alert_after=reader.whole("alert_after", 1, 0, _LARGE),
        alert_url=reader.text("alert_url", limit=2000),
        expected_duration=reader.span("expected_duration"),
        must_start_by=reader.span("must_start_by"),
        heartbeat_monitored=reader.flag("heartbeat_monitored", True),
        heartbeat_tolerance=reader.span("heartbeat_tolerance"),
        heartbeat_factor=reader.fraction("heartbeat_factor", 2.0, 1.0, 1000.0),
        heartbeat_grace=reader.span("heartbeat_grace") or plain.heartbeat_grace,
    )
    reader.finish()
    return watch


def _unique(names: Sequence[str], path: str, problems: list[Problem]) -> None:
    twice = sorted(name for name, times in Counter(names).items() if times > 1 and name)
    problems.extend(Problem(path, f"{name} is named twice") for name in twice)
