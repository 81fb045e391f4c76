"""The verbs that work on the database directly."""

import json

import asyncpg
import pytest

from headway.cli import sample
from headway.cli.installed import service
from headway.core.errors import Invalid
from headway.runtime.settings import MaintenanceSettings, load
from headway.sdk.sync import sync
from headway.store.tx import Database
from headway.store.version import newest
from tests.cli.command import headway

pytestmark = [pytest.mark.system, pytest.mark.timeout(180)]

SAMPLE = "headway.cli.sample:app"
AWAY = "postgresql://somebody:secret@127.0.0.1:9/headway"


async def test_a_schema_is_made_and_told_of(empty_database_url: str) -> None:
    """`db check` says no where `db migrate` has not run; `db current` tells both versions (CFG-05)."""
    url = {"HEADWAY_DATABASE_URL": empty_database_url}
    before = headway("db", "check", given=url)
    assert (before.code, before.out) == (1, f"none, this release has {newest()}\n")
    assert "headway db migrate" in before.err
    done = headway("db", "migrate", given=url)
    assert (done.code, done.out) == (0, f"{newest()}\n")
    assert done.err.startswith("migrated postgresql://") and done.err.endswith(f"/{empty_database_url.rpartition('/')[2]}\n")
    after = headway("db", "current", "--output", "json", given=url)
    assert json.loads(after.out) == {"version": newest(), "newest": newest()}


async def test_a_service_refuses_an_old_schema(empty_database_url: str) -> None:
    """A service on a schema that it does not know ends with exit code 2 and one line that names the command (CFG-02)."""
    urls = {"HEADWAY_DATABASE_URL": empty_database_url, "HEADWAY_BROKER_URL": "memory://"}
    said = headway("scheduler", given={**urls, "HEADWAY_LOG_LEVEL": "warning"})
    assert said.code == 2
    assert said.err.count("\n") == 1
    assert "run `headway db migrate`" in said.err


async def test_a_schema_that_is_too_new_is_refused(database_url: str) -> None:
    """No verb touches a schema of a later release (CFG-05)."""
    connection = await asyncpg.connect(database_url)
    try:
        await connection.execute("UPDATE headway.alembic_version SET version_num = '9999'")
    finally:
        await connection.close()
    for verb in (["db", "migrate"], ["sync", SAMPLE]):
        said = headway(*verb, given={"HEADWAY_DATABASE_URL": database_url})
        assert said.code == 2
        assert said.err.count("\n") == 1
        assert "upgrade Headway" in said.err


async def test_sync_repeats_without_change(database_url: str) -> None:
    """What code declares is written once; the second time says that nothing changed (DEF-15, DEF-17)."""
    first = headway("sync", SAMPLE, given={"HEADWAY_DATABASE_URL": database_url})
    again = headway("sync", SAMPLE, "--output", "json", given={"HEADWAY_DATABASE_URL": database_url})
    assert (first.code, first.out.splitlines()[-1]) == (0, "1 created")
    assert json.loads(again.out) == [{"name": "hello", "change": "unchanged", "version": 1}]


async def test_doctor_says_what_is_broken(database_url: str) -> None:
    """`doctor` ends with 0 where every invariant holds and with 1 where one does not, and shows which."""
    assert headway("doctor", given={"HEADWAY_DATABASE_URL": database_url}).code == 0
    database = await Database.open(database_url)
    await sync(database, sample.app, "test")
    await database.close()
    connection = await asyncpg.connect(database_url)
    try:
        await connection.execute("UPDATE headway.schedule SET broken = 'by hand'")
    finally:
        await connection.close()
    said = headway("doctor", "--output", "json", given={"HEADWAY_DATABASE_URL": database_url})
    assert said.code == 1
    assert [one["name"] for one in json.loads(said.out)["findings"] if not one["ok"]] == ["slots_are_decided"]


def test_a_database_that_is_away_is_one_line() -> None:
    """Exit code 3, one line with the URL and never its password."""
    said = headway("doctor", given={"HEADWAY_DATABASE_URL": AWAY})
    assert said.code == 3
    assert said.err.count("\n") == 1
    assert "somebody:***@127.0.0.1:9" in said.err
    assert "secret" not in said.err


async def test_a_scan_runs_once(database_url: str) -> None:
    """`maintenance scan` runs all scans once and says what each found; a dry run finds the same."""
    urls = {"HEADWAY_DATABASE_URL": database_url, "HEADWAY_BROKER_URL": "memory://"}
    said = [headway("maintenance", "scan", "all", *more, "--output", "json", given=urls) for more in ([], ["--dry-run"])]
    assert [one.code for one in said] == [0, 0]
    assert said[0].out == said[1].out
    assert {"due", "rescue", "deadlines"} <= {one["scan"] for one in json.loads(said[0].out)}


async def test_an_unknown_scan_is_refused() -> None:
    """A scan that there is not is refused before anything is opened, with the names of those that there are."""
    settings = load(MaintenanceSettings, database_url=AWAY, broker_url="memory://")
    with pytest.raises(Invalid, match="scan: 'nothing' is not a scan: choose all, due, rescue"):
        await service("maintenance").scan_once(settings, "nothing")
