"""Reruns and replays over HTTP."""

from uuid import UUID, uuid4

import httpx
import pytest

from headway.core.outcome import Failure, Outcome, SafeError, Success
from headway.store.tx import Database
from tests.api.rows import Rows, ask, put
from tests.sdk.rows import claim_one, end

FAILED = Failure(SafeError("ValueError", "no"), permanent=True)


async def ended(api: httpx.AsyncClient, database: Database, outcome: Outcome) -> str:
    """A run that was taken to its end."""
    run: str = (await ask(api, "job", params={"a": 1}, key=str(uuid4())))["id"]
    await claim_one(database, UUID(run), "job")
    await end(database, UUID(run), outcome)
    return run


@pytest.fixture(autouse=True)
async def job(api: httpx.AsyncClient) -> None:
    """A definition."""
    await put(api, {"name": "job"})


async def test_a_finished_run_is_run_again(api: httpx.AsyncClient, database: Database, rows: Rows) -> None:
    """RUN-12, API-06: 201 with the new run, which names its original; actor and reason are kept."""
    run = await ended(api, database, Success())
    answer = await api.post(f"/v1/runs/{run}:rerun", json={"reason": "asked for"})
    made = answer.json()
    assert (answer.status_code, answer.headers["Location"], made["state"]) == (201, f"/v1/runs/{made['id']}", "queued")
    shown = (await api.get(f"/v1/runs/{made['id']}")).json()
    assert [shown[name] for name in ("origin", "rerun_of", "replay_of", "key")] == ["rerun", run, None, None]
    assert (await api.get(f"/v1/runs/{made['id']}/content")).json()["params"] == {"a": 1}
    [entry] = await rows.fetch("SELECT actor, subject, reason FROM headway.audit WHERE action = 'run.rerun'")
    assert tuple(entry.values()) == ("api", f"run:{run}", "asked for")


async def test_a_failed_run_is_replayed_once(api: httpx.AsyncClient, database: Database, rows: Rows) -> None:
    """RUN-13, API-06: original and replay name one another; the second time is 409 `replayed_already`."""
    run = await ended(api, database, FAILED)
    made = (await api.post(f"/v1/runs/{run}:replay")).json()
    shown, original = (await api.get(f"/v1/runs/{made['id']}")).json(), (await api.get(f"/v1/runs/{run}")).json()
    assert [shown[name] for name in ("origin", "replay_of", "rerun_of")] == ["replay", run, None]
    assert (original["replayed_by"], shown["key"]) == (made["id"], original["key"])
    again = await api.post(f"/v1/runs/{run}:replay")
    assert (again.status_code, again.json()["code"]) == (409, "replayed_already")
    assert await rows.value("SELECT count(*) FROM headway.audit WHERE action = 'run.replay'") == 1


@pytest.mark.parametrize("verb", ["rerun", "replay"])
async def test_the_same_key_is_the_same_answer(api: httpx.AsyncClient, database: Database, verb: str) -> None:
    """RUN-09, RUN-12, RUN-13: a repetition under its Idempotency-Key is answered 200 with the run that it made."""
    run = await ended(api, database, FAILED)
    answers = [await api.post(f"/v1/runs/{run}:{verb}", headers={"Idempotency-Key": "once"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 200]
    assert answers[0].json()["id"] == answers[1].json()["id"]
    other = await api.post(f"/v1/runs/{await ended(api, database, FAILED)}:{verb}", headers={"Idempotency-Key": "once"})
    assert (other.status_code, other.json()["code"]) == (409, "key_reused")


async def test_what_forbids_it_is_said(api: httpx.AsyncClient, database: Database, rows: Rows) -> None:
    """RUN-12, RUN-13: open runs, runs that did not fail, runs that are not there, and bad bodies; nothing is written."""
    done, waiting = await ended(api, database, Success()), (await ask(api, "job"))["id"]
    before = await rows.counts()
    for path, status, code in (
        (f"{waiting}:rerun", 409, "not_final"),
        (f"{waiting}:replay", 409, "not_failed"),
        (f"{done}:replay", 409, "not_failed"),
        (f"{uuid4()}:rerun", 404, "not_found"),
        (f"{uuid4()}:replay", 404, "not_found"),
    ):
        answer = await api.post(f"/v1/runs/{path}")
        assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert (await api.post(f"/v1/runs/{done}:rerun", json={"reasons": "x"})).status_code == 422
    assert await rows.counts() == before
