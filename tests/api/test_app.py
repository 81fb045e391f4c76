"""The API as a service: on a socket, inside of a life."""

import asyncio
from asyncio import Event
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import httpx
import pytest

from headway.api.app import run
from headway.api.listening import bind
from headway.api.origin import Gatekeeper, gatekeeper, require_closed
from headway.api.surface import surface
from headway.core.errors import Conflict, Invalid
from headway.runtime.life import Life
from headway.runtime.settings import ApiSettings, load
from headway.runtime.settings.groups import ApiGroup
from headway.store.tx import Database

EVERYWHERE = "0.0.0.0"  # noqa: S104  # the address that is refused


def settings(database_url: str, **api: Any) -> ApiSettings:
    """Settings of an API on any free port, with a memory broker of its own."""
    name = database_url.rpartition("/")[2]
    return load(ApiSettings, database_url=database_url, broker_url=f"memory://{name}", health_port=0, api={"port": 0, **api})


async def up(life: Life) -> str:
    """Wait until the API answers, and return its address."""
    await life.started.wait()
    while not (http := life.health.ready().checks.get("http", {})).get("ok"):
        await life.clock.wait(Event(), 0.01)
    return f"http://127.0.0.1:{http['port']}"


@asynccontextmanager
async def serving(wanted: ApiSettings) -> AsyncIterator[tuple[Life, httpx.AsyncClient]]:
    """The API as a task, until the block ends; it has to end by itself then."""
    life = Life("api", drain=timedelta(seconds=5))
    task = asyncio.create_task(run(wanted, life))
    async with httpx.AsyncClient(base_url=await up(life)) as client:
        yield life, client
    life.stop("the test is over")
    await task


async def test_it_serves_until_it_is_asked_to_stop(database_url: str) -> None:
    """One process answers requests and probes on its port, and ends when its life is asked to (API-09, HLT-05)."""
    async with serving(settings(database_url)) as (_, client):
        assert (await client.put("/v1/definitions/report", json={})).status_code == 201
        accepted = await client.post("/v1/runs", json={"definition": "report"})
        assert accepted.status_code == 201
        assert (await client.get("/healthz")).json()["status"] == "ok"
        ready = (await client.get("/readyz")).json()
        assert (ready["status"], ready["checks"]["database"]["ok"], ready["checks"]["broker"]["ok"]) == ("ok", True, True)
        metrics = (await client.get("/metrics")).text
        assert 'headway_api_requests_total{method="POST",route="/v1/runs",status="201"}' in metrics
    with pytest.raises(httpx.ConnectError):
        async with httpx.AsyncClient(base_url=client.base_url) as late:
            await late.get("/healthz")


async def test_requests_under_way_are_answered_before_it_ends(database_url: str, database: Database) -> None:
    """A stop refuses new connections and finishes what was begun (LSE-11)."""
    async with serving(settings(database_url)) as (life, client), asyncio.TaskGroup() as requests:
        await client.put("/v1/definitions/report", json={})
        async with database.pool.acquire() as connection, connection.transaction():
            await connection.execute("LOCK TABLE headway.definition IN ACCESS EXCLUSIVE MODE")
            answer = requests.create_task(client.get("/v1/definitions/report"))
            while not await connection.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):
                await life.clock.wait(Event(), 0.01)
            life.stop("while a request waits")
        assert (await answer).status_code == 200


async def test_two_instances_understand_each_others_cursors(database_url: str) -> None:
    """Any instance behind a load balancer takes a page's cursor from any other (API-09)."""
    async with serving(settings(database_url)) as (_, one), serving(settings(database_url)) as (_, other):
        await one.post("/v1/definitions:apply", json={"definitions": [{"name": "a"}, {"name": "b"}]})
        cursor = (await one.get("/v1/definitions", params={"limit": 1})).json()["next_cursor"]
        assert [item["name"] for item in (await other.get("/v1/definitions", params={"cursor": cursor})).json()["items"]] == ["b"]


async def test_a_taken_port_is_named(database_url: str) -> None:
    """A port that somebody else has is a setting that is wrong, before anything is opened (CFG-02)."""
    with bind("127.0.0.1", 0) as taken, pytest.raises(Invalid) as caught:
        await run(settings(database_url, port=taken.getsockname()[1]), Life("api"))
    assert [problem.field for problem in caught.value.problems] == ["HEADWAY_API__PORT"]


async def test_it_refuses_to_be_open_to_other_machines_unasked(database_url: str) -> None:
    """Without authentication only loopback is served, unless somebody says that the network is closed (API-04)."""
    with pytest.raises(Invalid) as caught:
        await run(settings(database_url, host=EVERYWHERE), Life("api"))
    assert [problem.field for problem in caught.value.problems] == ["HEADWAY_API__HOST"]
    require_closed(ApiGroup(host=EVERYWHERE, allow_unauthenticated=True))
    for host in ("localhost", "127.0.0.2", "::1"):
        require_closed(ApiGroup(host=host))


async def test_it_refuses_a_schema_that_it_does_not_know(empty_database_url: str) -> None:
    """A database without the schema is named with the command that helps (CFG-05)."""
    with pytest.raises(Conflict, match="headway db migrate"):
        await run(settings(empty_database_url), Life("api"))


async def test_a_database_that_is_away_is_503(api: httpx.AsyncClient, database: Database) -> None:
    """An outage is said as one, with when to come back; it is no error of the request (API-02)."""
    database.pool.terminate()
    response = await api.get("/v1/definitions")
    assert (response.status_code, response.json()["code"]) == (503, "unavailable")
    assert response.headers["Retry-After"]


@pytest.mark.parametrize(
    ("method", "headers", "allowed"),
    [
        ("GET", {}, True),
        ("POST", {}, True),
        ("POST", {"Host": "localhost:8080"}, True),
        ("POST", {"Host": "[::1]:8080", "Origin": "http://[::1]:8080"}, True),
        ("GET", {"Host": "rebound.example.org:8080"}, False),
        ("POST", {"Origin": "https://example.org"}, False),
        ("POST", {"Origin": "null"}, False),
        ("GET", {"Origin": "https://example.org"}, True),
    ],
)
async def test_pages_of_a_browser_can_change_nothing(method: str, headers: dict[str, str], allowed: bool) -> None:
    """Neither a foreign page nor a name that points at this machine gets through to an API that asks nobody who they are."""
    assert (await _through(gatekeeper(surface(), ApiGroup()), method, headers)) is allowed


async def test_an_open_api_goes_by_any_name() -> None:
    """Where the network is trusted the host's name is not looked at, a foreign page still is."""
    door = gatekeeper(surface(), ApiGroup(allow_unauthenticated=True))
    assert await _through(door, "POST", {"Host": "headway.internal"})
    assert not await _through(door, "POST", {"Host": "headway.internal", "Origin": "https://example.org"})


async def _through(door: Gatekeeper, method: str, headers: dict[str, str]) -> bool:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(door), base_url="http://127.0.0.1:8080") as client:
        return (await client.request(method, "/nowhere", headers=headers)).status_code == 404
