"""`headway up`: everything in one process, as a person meets it."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headway.cli.embedded.postmaster import recorded
from tests.cli.command import BARE, Said, headway
from tests.harness.rundir import RunDir

pytestmark = [pytest.mark.system, pytest.mark.timeout(180)]

APP = """
import asyncio
from headway.sdk import Headway

app = Headway()


@app.job(queue="slow")
async def sleepy(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "slept"


@app.job
async def parent() -> str:
    handle = await sleepy.enqueue({"seconds": 0.01})
    return str(handle.id)
"""


SECRET_APP = """
from headway.sdk import Headway, cron
from pydantic import SecretStr

app = Headway()


@app.job(schedule=cron("0 7 1 1 *", params={"word": "hunter22"}))
async def login(word: SecretStr) -> dict[str, object]:
    return {"said": word.get_secret_value(), "length": len(word.get_secret_value())}
"""


class Up:
    """One `headway up`, what it printed, and the commands of somebody beside it."""

    def __init__(self, home: Path, port: int, *arguments: str) -> None:
        self.home, self.port = home, port
        self.began = time.monotonic()
        self.printed: list[str] = []
        command = [sys.executable, "-m", "headway.cli", "up", *arguments, "--port", str(port), "--data", str(home)]
        self.process = subprocess.Popen(
            command, env=BARE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        )

    def until(self, words: str) -> str:
        """Read on until a line begins with these words; the test's timeout is the patience."""
        assert self.process.stdout
        for line in self.process.stdout:
            self.printed.append(line)
            if line.strip().startswith(words):
                return line.strip()
        raise AssertionError(f"{words!r} was never said: {self.printed}")

    def stop(self, signum: signal.Signals = signal.SIGINT) -> tuple[int, float]:
        """Ctrl-C; answers the exit code and how long it took."""
        began = time.monotonic()
        self.process.send_signal(signum)
        self.printed += self.process.communicate(timeout=30)[0].splitlines(keepends=True)
        return self.process.returncode, time.monotonic() - began

    def close(self) -> None:
        """Leave nothing behind, whatever happened."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        if found := recorded(self.home / "postgres"):
            os.kill(found.pid, signal.SIGQUIT)

    def beside(self, *arguments: str) -> Said:
        """Run a command against it."""
        return headway(*arguments, given={"HEADWAY_API_URL": f"http://127.0.0.1:{self.port}", "HEADWAY_HOME": str(self.home)})


Start = Callable[..., Up]


@pytest.fixture
def home(test_run: RunDir) -> Path:
    """A folder that an unprivileged account can get to."""
    return test_run.path / f"up-{secrets.token_hex(4)}"


@pytest.fixture
def port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@pytest.fixture
def up(home: Path, port: int) -> Iterator[Start]:
    """Starts platforms over one folder, one after another."""
    started: list[Up] = []

    def start(*arguments: str) -> Up:
        started.append(Up(home, port, *arguments))
        return started[-1]

    yield start
    for one in reversed(started):
        one.close()


def test_the_sample_from_an_empty_folder(up: Start) -> None:
    """A first run within 60 s; a run by hand prints its result; ctrl-C ends all in 5 s; the data is there at the next start."""
    first = up()
    assert first.until("Headway is up").endswith(f"http://127.0.0.1:{first.port}")
    assert "Hello, world!" in first.until("first run: hello succeeded")
    assert time.monotonic() - first.began < 60
    assert first.beside("run", "hello", "-p", "name=Ada", "--wait") == (0, "Hello, Ada!\n", "")
    by_hand = json.loads(first.beside("runs", "list", "--output", "json", "--limit", "200").out)
    code, seconds = first.stop()
    assert (code, seconds < 5) == (0, True), (code, seconds, first.printed)
    assert not recorded(first.home / "postgres"), "the database is shut down, too"

    second = up()
    second.until("first run: hello succeeded")
    kept = {run["id"] for run in json.loads(second.beside("runs", "list", "--output", "json", "--limit", "1000").out)}
    assert {run["id"] for run in by_hand} < kept
    assert second.beside("doctor").code == 0
    assert second.stop()[0] == 0
    assert not [line for line in first.printed + second.printed if "rror" in line or line.startswith("{")]


def test_secrets_need_no_setting(up: Start, tmp_path: Path) -> None:
    """TPL-07: `up` makes a key and keeps it for its account alone; a start later, and for programs beside it, it still opens."""
    app = tmp_path / "secret_app.py"
    app.write_text(SECRET_APP)
    first = up(str(app))
    first.until("Headway is up")
    done = first.beside("run", "login", "-p", "word=hunter22", "--wait")
    assert done == (0, json.dumps({"said": "***", "length": 8}, indent=2) + "\n", "")
    [run] = json.loads(first.beside("runs", "list", "--output", "json").out)
    assert "hunter22" not in first.beside("runs", "show", run["id"]).out
    assert (first.home / "secret-key").stat().st_mode & 0o777 == 0o600
    urls = json.loads(first.beside("db", "url", "--output", "json").out)
    assert urls["HEADWAY_SECRETS__KEYS_FILE"] == str(first.home / "secret-key")
    assert headway("sync", str(app), given=urls).out.strip().endswith("nothing changed")
    first.stop()
    second = up(str(app))
    second.until("Headway is up")
    again = second.beside("runs", "rerun", run["id"], "--output", "json")
    second.until("first run: login succeeded")
    assert json.loads(second.beside("runs", "show", json.loads(again.out)["id"], "--output", "json").out)["content"] == {
        **json.loads(second.beside("runs", "show", run["id"], "--output", "json").out)["content"],
        "id": json.loads(again.out)["id"],
    }


def test_data_survives_a_kill(up: Start) -> None:
    """After kill -9 the next start adopts the database that still runs, and goes on with its data."""
    first = up()
    first.until("first run")
    made = first.beside("run", "hello", "--delay", "1h", "--key", "kept", "--output", "json")
    first.process.kill()
    first.process.wait()
    second = up()
    second.until("Headway is up")
    again = second.beside("run", "hello", "--delay", "1h", "--key", "kept", "--output", "json")
    assert json.loads(again.out)["id"] == json.loads(made.out)["id"]
    assert second.stop()[0] == 0


def test_an_application_of_ones_own(up: Start, tmp_path: Path) -> None:
    """Its queues are worked, its handlers enqueue, and a handler that would run for minutes does not hold up ctrl-C."""
    (tmp_path / "jobs.py").write_text(APP)
    own = up(str(tmp_path / "jobs.py"))
    own.until("Headway is up")
    done = own.beside("run", "sleepy", "-p", "seconds=0.01", "--wait", "--output", "json")
    assert json.loads(done.out)["result"] == {"value": "slept"}
    child = own.beside("run", "parent", "--wait").out.strip()
    assert json.loads(own.beside("runs", "show", child, "--output", "json").out)["definition"] == "sleepy"
    long = json.loads(own.beside("run", "sleepy", "-p", "seconds=600", "--output", "json").out)["id"]
    while json.loads(own.beside("runs", "show", long, "--output", "json").out)["state"] != "running":
        time.sleep(0.1)
    code, seconds = own.stop()
    assert (code, seconds < 5) == (0, True), (code, seconds)


def test_a_crontab_is_imported_once(up: Start, tmp_path: Path) -> None:
    """Imported twice, the second time nothing changed; what was left out is named by its line."""
    (tmp_path / "crontab").write_text("MAILTO=root\n*/5 * * * * echo hello\n@reboot echo never\n")
    platform = up()
    platform.until("Headway is up")
    first, again = (platform.beside("import", "crontab", str(tmp_path / "crontab")) for _ in range(2))
    assert first.code == again.code == 0
    assert first.out.splitlines()[-1] == "1 created"
    assert again.out.splitlines()[-1] == "nothing changed"
    assert "line 3: " in first.err
    name = json.loads(platform.beside("definitions", "list", "--output", "json").out)[0]["name"]
    ran = platform.beside("run", name, "--wait", "--output", "json")
    shown = platform.beside("runs", "show", json.loads(ran.out)["id"])
    assert "output\nhello\n" in shown.out
    assert "exit code  0" in shown.out


def test_a_taken_port_is_said_before_anything_starts(home: Path) -> None:
    """A port in use is one line that names --port, with exit code 2, and no database was made."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        said = headway("up", "--port", port, "--data", str(home))
    assert said.code == 2
    assert said.err.startswith(f"headway up: --port: cannot listen on 127.0.0.1:{port}: Address already in use")
    assert said.err.count("\n") == 1
    assert not home.exists()


def test_a_broken_application_is_said_before_anything_starts(home: Path, tmp_path: Path) -> None:
    """An application that cannot be imported is one line with the line that fails, exit code 2."""
    (tmp_path / "jobs.py").write_text("import nothing_of_this_name\n")
    said = headway("up", str(tmp_path / "jobs.py"), "--data", str(home))
    assert said.code == 2
    assert said.err.count("\n") == 1
    assert "jobs.py:1)" in said.err
    assert not home.exists()
