"""The embedded server itself: made once, adopted when it lives, recovered when it was killed, stopped by its last user."""

import asyncio
import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from headway.cli.embedded.account import Account, unprivileged
from headway.cli.embedded.binaries import Binaries, choose, discover, within_reach
from headway.cli.embedded.holders import Holders, alone
from headway.cli.embedded.home import Home
from headway.cli.embedded.postmaster import alive, forget_stranger, recorded, serving
from headway.core.errors import Invalid, Unavailable

ROLE = DATABASE = "headway"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "password_encryption": "scram-sha-256",
    "fsync": "on",
    "synchronous_commit": "on",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "log_min_messages": "log",
    "log_checkpoints": "off",
}
AFTER_A_KILL = Retrying(stop=stop_after_delay(20), wait=wait_fixed(0.25), retry=retry_if_exception_type(Unavailable), reraise=True)


class EmbeddedPostgres:
    """A PostgreSQL server on the loopback whose data lives in one folder, shared by every process that starts it.

    `settings` override the server's defaults; `candidates` are the binaries to choose from, those of this machine when not given."""

    def __init__(self, home: Path, *, candidates: Sequence[Binaries] | None = None, settings: Mapping[str, str] | None = None) -> None:
        self._home = Home(home.absolute())
        self._candidates = candidates
        self._settings = {**SETTINGS, **(settings or {})}
        self._holders = Holders(self._home.holders)

    @property
    def pid(self) -> int | None:
        """The server's main process, or None when it does not serve."""
        found = serving(self._home.data)
        return found.pid if found else None

    async def start(self) -> str:
        """Return the URL of a running server with a database `headway`; starting twice is harmless.

        Raises Invalid for a folder that cannot serve, Unavailable when no fitting PostgreSQL is here or it does not start."""
        return await asyncio.to_thread(self._start)

    async def stop(self) -> None:
        """Let go of the server and, when nobody else holds it, shut it down within 5 s; data that was committed stays."""
        await asyncio.to_thread(self._stop)

    def _start(self) -> str:
        account = _account()
        self._home.prepare(account)
        with alone(self._home.starting):
            password = self._home.password(account)
            binaries = self._binaries(account)
            if self._home.major is None:
                _Create(self._home, binaries, account, self._settings).run()
            port = AFTER_A_KILL(self._launch, binaries, account)
            self._holders.join()
        return _url(password, port)

    def _launch(self, binaries: Binaries, account: Account | None) -> int:
        found = serving(self._home.data)
        if found:
            return found.port
        forget_stranger(self._home.data)
        port = self._home.port()
        settings = {**self._settings, "port": str(port)}
        options = shlex.join(part for name, value in settings.items() for part in ("-c", f"{name}={value}"))
        data, log = str(self._home.data), str(self._home.log)
        _run([binaries["pg_ctl"], "start", "-w", "-t", "60", "-D", data, "-l", log, "-o", options], account, log=self._home.log)
        return port

    def _stop(self) -> None:
        if not self._holders.joined:
            return
        account = _account()
        with alone(self._home.starting):
            found = recorded(self._home.data)
            if not self._holders.leave() or not found or not alive(found.pid):
                return
            self._shut_down(account)

    def _shut_down(self, account: Account | None) -> None:
        """Fast, else at once and recovering at the next start.  Raises Unavailable when the server goes on all the same."""
        stop = [self._binaries(account)["pg_ctl"], "stop", "-w", "-D", str(self._home.data)]
        for mode, patience in (("fast", "4"), ("immediate", "1")):
            with suppress(Unavailable):
                _run([*stop, "-m", mode, "-t", patience], account)
                return
        if serving(self._home.data):
            raise Unavailable(f"the database in {self._home.path} does not stop")

    def _binaries(self, account: Account | None) -> Binaries:
        candidates = discover() if self._candidates is None else self._candidates
        return within_reach(choose(candidates, self._home.major), account, self._home.path)


def url_of_running(home: Path) -> str:
    """Return the URL of the server that runs in a folder, and start none.  Raises Unavailable when none runs there."""
    place = Home(home.absolute())
    found = serving(place.data)
    if found is None:
        raise Unavailable(f"no `headway up` runs with its data in {place.path}: start it there, or name its folder with --data")
    return _url(place.password(None), found.port)


def _url(password: str, port: int) -> str:
    return f"postgresql://{ROLE}:{password}@127.0.0.1:{port}/{DATABASE}"


class _Create:
    """Makes a data directory beside its final place, so that one that was interrupted is never taken for a whole one."""

    def __init__(self, home: Home, binaries: Binaries, account: Account | None, settings: Mapping[str, str]) -> None:
        self._home, self._binaries, self._account = home, binaries, account
        self._unfinished = home.path / "postgres.new"
        self._sync = [] if settings["fsync"] == "on" else ["--no-sync"]

    def run(self) -> None:
        shutil.rmtree(self._unfinished, ignore_errors=True)
        self._unfinished.mkdir(mode=0o700)
        if self._account:
            self._account.own(self._unfinished)
        _run([self._binaries["initdb"], *self._options(), "-D", str(self._unfinished)], self._account)
        single = [self._binaries["postgres"], "--single", "-D", str(self._unfinished), "postgres"]
        _run(single, self._account, said=f"CREATE DATABASE {DATABASE}\n")
        self._unfinished.rename(self._home.data)

    def _options(self) -> list[str]:
        password = f"--pwfile={self._home.path / 'password'}"
        return [f"--username={ROLE}", "--auth=scram-sha-256", password, "--encoding=UTF8", "--locale=C", "--no-instructions", *self._sync]


def _account() -> Account | None:
    try:
        return unprivileged()
    except LookupError as error:
        raise Invalid.field("user", str(error)) from error


def _run(command: Sequence[str], account: Account | None, *, said: str = "", log: Path | None = None) -> None:
    """Run one of the server's programs as the account, apart from this terminal's signals.  Raises Unavailable with its last words."""
    environment = {**os.environ, "LC_ALL": "C", "PGTZ": "UTC"}
    try:
        done = subprocess.run(
            command,
            input=said,
            capture_output=True,
            text=True,
            check=False,
            timeout=90,
            cwd="/",
            env=environment,
            start_new_session=True,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{Path(command[0]).name}: {error}") from error
    if done.returncode != 0:
        words = log.read_text(errors="replace") if log and log.exists() else done.stderr
        raise Unavailable(f"{Path(command[0]).name} failed: {' '.join(words.splitlines()[-3:])}")
