"""How a service behaves as a process, from outside: signals, exit codes, addresses."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

pytestmark = pytest.mark.system

SAMPLE = Path(__file__).parent / "sample_service.py"


class Process:
    """One sample service, and what it has logged."""

    def __init__(self, what: str, **environment: str) -> None:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("HEADWAY_")}
        self.events: list[dict[str, Any]] = []
        self.popen = subprocess.Popen([sys.executable, str(SAMPLE), what], env=clean | environment, stderr=subprocess.PIPE, text=True)

    def until(self, event: str) -> dict[str, Any]:
        """Read the log until this event."""
        assert self.popen.stderr
        for line in self.popen.stderr:
            self.events.append(json.loads(line))
            if self.events[-1]["event"] == event:
                return self.events[-1]
        raise AssertionError(f"{event} was never logged: {self.events}")

    def ended(self) -> tuple[int, str]:
        """Exit code, and the rest of stderr."""
        _, rest = self.popen.communicate(timeout=30)
        return self.popen.returncode, rest

    def close(self) -> None:
        """Leave nothing behind."""
        if self.popen.poll() is None:
            self.popen.kill()
        self.popen.communicate()


Start: TypeAlias = Callable[..., Process]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts sample services."""
    started: list[Process] = []

    def begin(what: str, **environment: str) -> Process:
        started.append(Process(what, **environment))
        return started[-1]

    yield begin
    for process in started:
        process.close()


def status(port: int, path: str) -> int:
    """The HTTP status of an address."""
    try:
        with urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return int(answer.status)
    except HTTPError as error:
        error.close()
        return error.code


@pytest.fixture
def port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_cleanly(start: Start, port: int, signum: signal.Signals) -> None:
    """SIGTERM and ctrl-C end a healthy service with exit code 0 (COR-07)."""
    process = start("idle", HEADWAY_HEALTH_PORT=str(port))
    process.until("service started")
    assert [status(port, path) for path in ("/healthz", "/readyz", "/metrics")] == [200, 200, 200]
    process.popen.send_signal(signum)
    assert process.until("service stopped")
    assert process.ended()[0] == 0


@pytest.mark.parametrize(("signum", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_second_signal_stops_now(start: Start, signum: signal.Signals, code: int) -> None:
    """Work that is still draining is cancelled by a second signal (COR-07)."""
    process = start("stuck")
    process.until("service started")
    process.popen.send_signal(signum)
    process.until("stop requested")
    process.popen.send_signal(signum)
    assert process.ended()[0] == code


def test_the_drain_time_ends_work(start: Start) -> None:
    """What does not end within the drain time is cut off, and the stop is a clean one."""
    process = start("stuck", HEADWAY_DRAIN_SECONDS="0.1")
    process.until("service started")
    process.popen.terminate()
    process.until("task was cut off")
    assert process.ended()[0] == 0


def test_bad_settings_are_all_said(start: Start) -> None:
    """Every bad value is a line on stderr, and the exit code is 2 (CFG-02)."""
    code, said = start("idle", HEADWAY_HEALTH_PORT="x", HEADWAY_LOG_LEVEL="loud").ended()
    assert code == 2
    assert "headway sample: HEADWAY_HEALTH_PORT: must be a whole number\n" in said
    assert "HEADWAY_LOG_LEVEL: must be one of" in said
    assert "Traceback" not in said


def test_variables_that_set_nothing_are_told_of(start: Start) -> None:
    """A name of ours that no knob has is a warning at the start; one that is almost a knob's is exit code 2 (CFG-02)."""
    process = start("idle", HEADWAY_DB_URL="x")
    assert process.until("environment variables were ignored")["names"] == {"HEADWAY_DB_URL": "HEADWAY_DATABASE_URL"}
    process.popen.terminate()
    process.ended()
    said = "headway sample: HEADWAY_BROKR_URL: there is no such knob: did you mean HEADWAY_BROKER_URL?\n"
    assert start("idle", HEADWAY_BROKR_URL="amqp://mq").ended() == (2, said)


def test_a_port_in_use_is_a_bad_setting(start: Start) -> None:
    """A health port that another process has ends with code 2, its name, and what to do."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        code, said = start("idle", HEADWAY_HEALTH_PORT=str(taken.getsockname()[1])).ended()
    assert (code, said.count("HEADWAY_HEALTH_PORT: ")) == (2, 1)
    assert "Address already in use; set HEADWAY_HEALTH_PORT to another, or 0 for none\n" in said


def test_an_unreachable_dependency_is_code_three(start: Start) -> None:
    """A database that does not answer at the start is one line, no traceback, exit code 3."""
    code, said = start("unreachable").ended()
    assert code == 3
    assert "no database at" in said
    assert "Traceback" not in said


def test_a_task_that_dies_ends_the_process(start: Start) -> None:
    """A dead task is no silent degradation: the process logs why and ends with code 1."""
    process = start("die")
    assert "ZeroDivisionError" in process.until("process died")["exception"]
    assert process.ended()[0] == 1


def test_a_thread_left_behind_does_not_hold_the_process(start: Start) -> None:
    """A handler's thread that never returns delays the end by seconds, not for ever."""
    process = start("thread")
    process.until("service started")
    process.popen.terminate()
    assert process.until("threads were left behind")["threads"] == ["handler"]
    assert process.ended()[0] == 0


def test_a_blocked_event_loop_is_unhealthy(start: Start, port: int) -> None:
    """While the event loop stands still the health port answers, with 503, and the log shows where it stands (HLT-06)."""
    process = start("block", HEADWAY_HEALTH_PORT=str(port))
    assert "in _hold" in process.until("event loop was blocked")["stack"]
    assert status(port, "/healthz") == 503
