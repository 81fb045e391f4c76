"""Operating the broker, the sessions and the doctor over HTTP."""

from datetime import timedelta
from uuid import uuid4

import httpx

from headway.api.platform import Platform
from headway.broker.port import Broker, Letter
from headway.messages import RunCreated
from headway.messages import parse as parse_message
from headway.messages.channels import DEAD, run_queue
from headway.store import sessions
from headway.store.sessions import Session
from tests.api.rows import Rows, ask, put


async def test_a_rebuild_hints_at_everything_queued(api: httpx.AsyncClient, broker: Broker, platform: Platform, rows: Rows) -> None:
    """Every queued run is named again, of one definition or of all, and the counts say so; it is audited (MSG-15)."""
    await api.post("/v1/definitions:apply", json={"definitions": [{"name": "a", "queue": "qa"}, {"name": "b", "queue": "qb"}]})
    ids = {(await ask(api, name))["id"] for name in "aab"}
    await ask(api, "a", delay="1h")
    done = (await api.post("/v1/broker:rebuild", json={"reason": "disk was lost"})).json()
    assert done == {"queues": ["qa", "qb"], "runs": 3, "hints": 2, "refused": 0}
    named: set[str] = set()
    for queue in ("qa", "qb"):
        consumer = await broker.consume(run_queue(queue), prefetch=10)
        hints = [parse_message(one.body) for one in await consumer.receive()]
        named |= {str(run) for hint in hints if isinstance(hint, RunCreated) for run in hint.runs}
    assert named == ids
    assert (await api.post("/v1/broker:rebuild", json={"definition": "b"})).json()["runs"] == 1
    assert (await api.post("/v1/broker:rebuild", json={"definition": "x"})).status_code == 422
    entries = await rows.fetch("SELECT reason, new FROM headway.audit WHERE action = 'broker.rebuild' ORDER BY id")
    assert (entries[0]["reason"], entries[0]["new"]["runs"]) == ("disk was lost", 3)


async def test_dead_messages_are_shown_requeued_and_purged(api: httpx.AsyncClient, broker: Broker, rows: Rows) -> None:
    """Poison is shown with its bytes; parked reactions are listed beside it and freed; everything is audited (MSG-09, MSG-17)."""
    await broker.publish(
        Letter(DEAD, "", b"\xff not json", "x", headers={"headway-origin": "scheduler.run-complete", "headway-reason": "why"})
    )
    run = uuid4()
    await rows.value("INSERT INTO headway.reaction (run, kind, tries, next_look_at, parked) VALUES ($1, 4, 10, now(), true)", run)
    dead = (await api.get("/v1/dead")).json()
    [message] = dead["messages"]
    assert (message["encoding"], message["origin"], message["reason"]) == ("base64", "scheduler.run-complete", "why")
    assert dead["reactions"] == [{"run": str(run), "kind": "alert", "tries": 10, "last_error": None}]
    assert (await api.post("/v1/dead:requeue")).json() == {"messages": 1, "reactions": 1}
    assert (await api.get("/v1/dead")).json() == {"messages": [], "reactions": []}
    await broker.publish(Letter(DEAD, "", b"poison", "x"))
    assert (await api.post("/v1/dead:purge", json={"reason": "seen"})).json() == {"messages": 1}
    entries = await rows.fetch("SELECT action, actor FROM headway.audit ORDER BY id")
    assert [tuple(entry) for entry in entries] == [("dead.requeue", "api"), ("dead.purge", "api")]


async def test_sessions_are_listed_with_what_they_hold(api: httpx.AsyncClient, platform: Platform) -> None:
    """Every process that has a session is shown; one that has not renewed it shows as lapsed (HLT-07)."""
    mine = Session(uuid4(), "worker", "host", 42, queues=("default",), handlers=("report",), capacity=8)
    async with platform.database.begin() as tx:
        await sessions.register(tx, mine, timedelta(minutes=1))
        await sessions.register(tx, Session(uuid4(), "worker", "gone", 43), -timedelta(minutes=1))
    shown = {one["host"]: one for one in (await api.get("/v1/sessions")).json()["items"]}
    assert (shown["host"]["state"], shown["host"]["lapsed"], shown["host"]["capacity"]) == ("running", False, 8)
    assert shown["gone"]["lapsed"] is True


async def test_the_doctor_answers_for_every_invariant(api: httpx.AsyncClient) -> None:
    """A platform at rest breaks none."""
    await put(api, {"name": "report"})
    await ask(api, "report")
    found = (await api.get("/v1/doctor")).json()
    assert found["ok"] is True
    assert all(one["ok"] and one["promise"] for one in found["findings"])
