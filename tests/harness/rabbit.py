"""RabbitMQ nodes that a test may stop, kill, freeze and empty, because nobody else uses them."""

import asyncio
import http.client
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from tests.harness.rundir import RunDir

AMQP_HEADER = b"AMQP\x00\x00\x09\x01"
START_LIMIT = 90.0
DEBIAN = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")


@dataclass(frozen=True, slots=True)
class NodeOptions:
    """How a node differs from a plain one."""

    consumer_timeout: timedelta | None = None
    management: bool = False


class RabbitNode(Protocol):
    """One node of its own; its URL stays the same from start to start."""

    url: str
    api: str

    async def start(self) -> None:
        """Start it, or find it running, and return when it takes connections."""

    async def stop(self) -> None:
        """Shut it down in order; durable queues and persistent messages stay."""

    async def kill(self) -> None:
        """SIGKILL."""

    async def wipe(self) -> None:
        """Kill it if it runs, and delete its data directory."""

    async def freeze(self) -> None:
        """SIGSTOP: connections stay open and nothing answers."""

    async def thaw(self) -> None:
        """SIGCONT."""


def configuration(options: NodeOptions, port: int = 5672, api_port: int = 15672, address: str = "") -> str:
    """The node's rabbitmq.conf; it listens on `address`, everywhere when there is none."""
    lines = ["loopback_users = none", "log.file.level = warning", "log.console = false", "disk_free_limit.absolute = 50MB"]
    lines.append(f"listeners.tcp.1 = {address}:{port}" if address else f"listeners.tcp.default = {port}")
    if options.consumer_timeout:
        lines.append(f"consumer_timeout = {int(options.consumer_timeout.total_seconds() * 1000)}")
    if options.management:
        lines += ["management_agent.disable_metrics_collector = true", f"management.tcp.port = {api_port}"]
        lines += [f"management.tcp.ip = {address}"] if address else []
    return "\n".join(lines) + "\n"


def advanced(options: NodeOptions) -> str:
    """The node's advanced.config: a short consumer timeout is looked for as often as it is short."""
    tick = min(60_000, int(options.consumer_timeout.total_seconds() * 500)) if options.consumer_timeout else 60_000
    return f"[{{rabbit, [{{channel_tick_interval, {tick}}}]}}].\n"


def wait_ready(port: int, api_port: int, alive: "subprocess.Popen[bytes] | None" = None) -> None:
    """Return when the node speaks AMQP, and HTTP when it has an API; raises RuntimeError when it died or takes too long."""
    deadline = time.monotonic() + START_LIMIT
    while not (_speaks_amqp(port) and (not api_port or _speaks_http(api_port))):
        if (alive and alive.poll() is not None) or time.monotonic() > deadline:
            raise RuntimeError(f"the RabbitMQ node on port {port} did not start")
        time.sleep(0.05)


def free_port() -> int:
    """A port of the loopback that nobody uses at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def server_program() -> Path | None:
    """The start script of the installed RabbitMQ; Debian's wrapper around it insists on the system's own node."""
    if DEBIAN.exists():
        return DEBIAN
    on_path = shutil.which("rabbitmq-server")
    return Path(on_path) if on_path else None


class LocalRabbit:
    """A node of the installed RabbitMQ package, beside the system's: own ports, name, cookie and folder."""

    def __init__(self, run: RunDir, program: Path, options: NodeOptions | None = None) -> None:
        self._run, self._program, self._options = run, program, options or NodeOptions()
        self._name = f"headway{secrets.token_hex(4)}"
        self._home = run.path / self._name
        self._port, self._dist = free_port(), free_port()
        self._api_port = free_port() if self._options.management else 0
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"amqp://guest:guest@127.0.0.1:{self._port}/"
        self.api = f"http://guest:guest@127.0.0.1:{self._api_port}" if self._api_port else ""

    async def start(self) -> None:
        await asyncio.to_thread(self.start_now)

    async def stop(self) -> None:
        await asyncio.to_thread(self._end, signal.SIGTERM)

    async def kill(self) -> None:
        await asyncio.to_thread(self._end, signal.SIGKILL)

    async def wipe(self) -> None:
        await asyncio.to_thread(self._end, signal.SIGKILL)
        await asyncio.to_thread(shutil.rmtree, self._home / "mnesia", ignore_errors=True)

    async def freeze(self) -> None:
        assert self._process
        os.killpg(self._process.pid, signal.SIGSTOP)

    async def thaw(self) -> None:
        assert self._process
        os.killpg(self._process.pid, signal.SIGCONT)

    def start_now(self) -> None:
        """`start`, blocking."""
        if self._process:
            return
        account = _account()
        self._write_files(account)
        with (self._home / "output").open("ab") as output:
            self._process = subprocess.Popen(
                [self._program],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self._home,
                env=self._environment(),
                start_new_session=True,
                user=account.pw_uid if account else None,
                group=account.pw_gid if account else None,
                extra_groups=[] if account else None,
            )
        self._run.register_group(self._process.pid, signal.SIGKILL)
        wait_ready(self._port, self._api_port, self._process)

    def entrust(self) -> None:
        """Leave the node to the run's guardian: this process neither ends it nor waits for it."""
        assert self._process
        self._process.returncode = 0
        self._process = None

    def _end(self, how: signal.Signals) -> None:
        if not self._process:
            return
        group = self._process.pid
        if how is signal.SIGKILL:
            os.killpg(group, how)
        else:
            self._process.send_signal(how)
        self._process.wait(timeout=START_LIMIT)
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
        self._run.forget_group(group)
        self._process = None

    def _write_files(self, account: pwd.struct_passwd | None) -> None:
        plugins = "[rabbitmq_management].\n" if self._options.management else "[].\n"
        files = {
            "rabbitmq.conf": configuration(self._options, self._port, self._api_port, "127.0.0.1"),
            "advanced.config": advanced(self._options),
            "enabled_plugins": plugins,
        }
        self._home.mkdir(mode=0o755, exist_ok=True)
        for name, text in files.items():
            (self._home / name).write_text(text)
        if account:
            os.chown(self._home, account.pw_uid, account.pw_gid)

    def _environment(self) -> dict[str, str]:
        home = str(self._home)
        return {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "HOME": home,
            "RABBITMQ_NODENAME": f"{self._name}@localhost",
            "RABBITMQ_DIST_PORT": str(self._dist),
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_CONFIG_FILE": f"{home}/rabbitmq.conf",
            "RABBITMQ_ADVANCED_CONFIG_FILE": f"{home}/advanced.config",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{home}/enabled_plugins",
            "RABBITMQ_MNESIA_BASE": f"{home}/mnesia",
            "RABBITMQ_LOG_BASE": f"{home}/log",
            "RABBITMQ_PID_FILE": f"{home}/pid",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+sbwt none +sbwtdcpu none +sbwtdio none",
        }


def _account() -> pwd.struct_passwd | None:
    if os.geteuid() != 0:
        return None
    with suppress(KeyError):
        return pwd.getpwnam("rabbitmq")
    return None


def _speaks_amqp(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(AMQP_HEADER)
            return connection.recv(1) == b"\x01"
    except OSError:
        return False


def _speaks_http(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1)
    try:
        connection.request("HEAD", "/")
        return connection.getresponse().status < 500
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
