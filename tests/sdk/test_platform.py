"""A whole platform inside of a test."""

from datetime import datetime, timedelta

import asyncpg
import pytest
from pydantic import SecretStr

from headway.sdk import Headway, PermanentError, Retry, Run, RunFailed, cron
from headway.sdk.testing import Platform
from tests.store.dump import CANARY, places_of


async def test_an_application_runs_through_two_days(database_url: str) -> None:
    """A schedule fires each of its slots, a retry and a delayed child run when they are due, all in seconds of real time."""
    app = Headway()
    fired: list[datetime | None] = []
    tried: list[int] = []
    children: list[str] = []

    @app.job(schedule=cron("0 7 * * *", zone="Europe/Berlin"))
    async def nightly(run: Run) -> None:
        fired.append(run.slot)

    @app.job(retry=Retry(attempts=3, backoff="fixed", base=timedelta(hours=1)))
    async def flaky(run: Run) -> int:
        tried.append(run.attempt)
        if not run.is_last_attempt:
            raise ValueError("not yet")
        await run.enqueue(child, {"name": "late"}, delay=timedelta(hours=3))
        return run.attempt

    @app.job(queue="children")
    def child(name: str) -> str:
        children.append(name)
        return name.upper()

    async with Platform(app, database_url=database_url) as platform:
        began = await platform.now()
        handle = await app.jobs["flaky"].enqueue()
        await platform.run_until_idle()
        assert (tried, fired) == ([1], [])
        platform.advance("2d")
        await platform.run_until_idle()
        assert await platform.now() - began >= timedelta(days=2)
        assert await handle.result(5) == {"value": 3}
        direct = await app.enqueue("child", {"name": "direct"})
        assert await direct.result(5) == {"value": "DIRECT"}
    assert tried == [1, 2, 3]
    assert len(fired) == 2 and None not in fired
    assert children == ["late", "direct"]


async def test_secrets_reach_their_handlers(database_url: str) -> None:
    """TPL-07: a platform in a test has a key of its own: schedules, enqueues, children, reruns and replays are given the secret."""
    app = Headway()
    heard: list[str] = []

    @app.job(schedule=cron("0 7 * * *", params={"word": CANARY}))
    async def login(run: Run, word: SecretStr, child: bool = False) -> None:
        heard.append(word.get_secret_value())
        if child:
            await run.enqueue(login, {"word": word})
            raise PermanentError("no")

    async with Platform(app, database_url=database_url) as platform:
        failed = await app.enqueue("login", {"word": CANARY, "child": True})
        with pytest.raises(RunFailed):
            await failed.result(5)
        for again in (app.rerun, app.replay):
            with pytest.raises(RunFailed):
                await (await again(failed.id, "once more")).result(5)
        platform.advance("1d")
        await platform.run_until_idle()
        assert await places_of(platform.client.database, CANARY) == []
    assert heard == [CANARY] * 7


async def test_a_platform_leaves_nothing_behind(database_url: str) -> None:
    """The platform's schema is gone when the test ends."""
    async with Platform(Headway(), database_url=database_url) as platform:
        await platform.run_until_idle()
    connection = await asyncpg.connect(database_url)
    left = await connection.fetch("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'headway_test%'")
    await connection.close()
    assert left == []
