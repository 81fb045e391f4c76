"""What the runs of slots are given."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from headway.core.ask import LARGEST_INPUT
from headway.core.outcome import Success
from headway.core.schedule.rule import parse_rule
from headway.core.schedule.timeline import Timeline
from headway.core.slot import ScheduleView
from headway.store import last_runs
from headway.store.known import Known
from headway.store.last_runs import Last
from headway.store.slot_inputs import input_of
from tests.store.ledger import START, Ledger
from tests.store.scene import Scene
from tests.store.test_decide import decide, loaded

AT = datetime(2026, 1, 31, 7, tzinfo=UTC)
RULE = parse_rule({"cron": "0 8 * * *", "zone": "Europe/Berlin"})
TIMELINE = Timeline(RULE)
KNOWN = Known(UUID(int=1), "", "nightly", TIMELINE, 1, AT, "report", UUID(int=2), "", ScheduleView(UUID(int=1), TIMELINE))


def given(defaults: dict[str, Any] | None, own: dict[str, Any] | None, spec: dict[str, Any] | None = None) -> Any:
    """The parameters of a slot's run, read again."""
    text, _ = input_of(KNOWN, AT, {"defaults": defaults, "parameters": own, "spec": spec}, AT + timedelta(seconds=2))
    return None if text is None else json.loads(text)


def test_parameters_of_a_schedule_win_whatever_their_case() -> None:
    """TPL-02: the schedule's parameters go over the definition's, under the definition's spelling; none at all are none."""
    assert given({"Day": 1, "format": "csv"}, {"day": 2}) == {"Day": 2, "format": "csv"}
    assert given({}, None) is None and given(None, {}) is None


def test_templates_become_words() -> None:
    """TPL-03: definition, schedule and slot are put in, local times in the schedule's zone; what is unknown stays for the worker."""
    own = {"file": "{Definition.Name}-{Slot.Local:%Y%m%d-%H}.csv", "by": "{Schedule.Name}", "later": "{Shard.Number}", "n": 1}
    assert given({"at": "{Slot.At}"}, own) == {
        "at": "2026-01-31T07:00:00+00:00",
        "file": "report-20260131-08.csv",
        "by": "nightly",
        "later": "{Shard.Number}",
        "n": 1,
    }


def test_documents_stay() -> None:
    """TPL-04: a parameter that holds JSON or XML by its specification is given as it stands."""
    spec = {"properties": {"body": {"contentMediaType": "application/json"}}}
    assert given({"body": "{Slot.At}"}, {"to": "{Schedule.Name}"}, spec) == {"body": "{Slot.At}", "to": "nightly"}


@pytest.mark.parametrize(
    ("own", "fault"),
    [
        ({"a": "{Slot.At:%9d}"}, "a: '{Slot.At:%9d}': the format '%9d' holds what is not known here"),
        ({str(number): "{Definition.Name}" * 2000 for number in range(7)}, "all: they would be too large to be stored"),
    ],
)
def test_a_bad_template_is_kept_and_told_of(own: dict[str, str], fault: str) -> None:
    """TPL-05: what goes wrong keeps its text, and a warning names definition, schedule and parameter."""
    known = replace(KNOWN, definition="d" * 30)
    text, faults = input_of(known, AT, {"defaults": own, "parameters": None, "spec": None}, AT)
    assert text is not None and json.loads(text) == own
    assert len(text) <= LARGEST_INPUT
    assert faults == [fault]


async def test_a_slot_fires_with_its_words(scene: Scene) -> None:
    """TPL-03, TPL-05: a due slot's run has its templates put into words, and a bad one does not keep the slot."""
    await scene.schedule("nightly", every="10s", parameters={"at": "{Slot.At}", "id": "{-}", "bad": "{Slot.At:%9d}"})
    cache = await loaded(scene)
    await scene.later(timedelta(seconds=10))
    await decide(scene, cache)
    (run,) = await scene.sql("SELECT * FROM headway.run")
    params = json.loads(run["params"])
    assert datetime.fromisoformat(params["at"]) == run["slot_at"]
    assert str(UUID(params["id"])) == params["id"]
    assert params["bad"] == "{Slot.At:%9d}"


async def test_templates_know_the_last_runs(scene: Scene) -> None:
    """TPL-03: the last run, the last success and the last failure, with their parameters and results by dotted names."""
    own = {
        "since": "{LastSuccess.Result.until}",
        "before": "{LastRun.State}",
        "failed": "{LastFailure.Id}",
        "was": "{lastrun.parameters.since}",
    }
    ledger = await Ledger(scene).begin({"every": "10m"}, parameters=own)
    await ledger.decide(START + timedelta(minutes=10))
    [first] = await ledger.runs()
    worker = await scene.worker(timedelta(days=1))
    [claimed] = await scene.claim(worker, [first["id"]])
    await scene.settle(worker, claimed, Success({"until": "noon"}))
    async with scene.database.begin() as tx:
        await last_runs.write(tx, {}, {ledger.schedule: Last(latest=first["id"], succeeded=first["id"])})
    await ledger.decide(START + timedelta(minutes=20))
    said = json.loads((await ledger.runs())[1]["params"])
    assert said == {"since": "noon", "before": "succeeded", "failed": "{LastFailure.Id}", "was": "{LastSuccess.Result.until}"}


async def test_an_opaque_payload_reaches_the_run_as_it_is(scene: Scene) -> None:
    """TEN-01, RUN-16: a stored schedule's payload is its run's, whatever braces it holds."""
    ledger = await Ledger(scene).begin({"every": "10m"}, payload="{Slot.At} \u00e9")
    await ledger.decide(START + timedelta(minutes=10))
    [run] = await ledger.runs()
    [kept] = await scene.sql("SELECT payload FROM headway.run_input WHERE run = $1", run["id"])
    assert kept["payload"] == "{Slot.At} \u00e9".encode()
