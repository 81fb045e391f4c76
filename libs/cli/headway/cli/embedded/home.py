"""The folder of an embedded server: what lies where, and who may read it.

<home>/postgres/   the server's data directory, the account's alone
<home>/password    of the database role, 0600
<home>/secret-key  of secret parameters, 0600
<home>/port        where the server listens, kept so that links stay good
<home>/starting    lock: one process starts or stops at a time
<home>/holders     lock: who uses the server
"""

import os
import secrets
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from headway.cli.embedded.account import Account
from headway.core.errors import Invalid
from headway.runtime.vault import new_key

FOR_ROOT = Path("/var/lib/headway")
FOR_USERS = Path(".headway")


def default_home() -> Path:
    """Where data goes when nobody says: the working directory, or the system's place when root runs it for another account."""
    return FOR_ROOT if os.geteuid() == 0 else FOR_USERS


@dataclass(frozen=True, slots=True)
class Home:
    """The paths of one embedded server; absolute."""

    path: Path

    @property
    def data(self) -> Path:
        return self.path / "postgres"

    @property
    def log(self) -> Path:
        return self.data / "server.log"

    @property
    def starting(self) -> Path:
        return self.path / "starting"

    @property
    def holders(self) -> Path:
        return self.path / "holders"

    @property
    def major(self) -> int | None:
        """The version of PostgreSQL that made the data, or None when there is none yet."""
        try:
            return int((self.data / "PG_VERSION").read_text())
        except FileNotFoundError:
            return None

    def prepare(self, account: Account | None) -> None:
        """Make the folder; an account that the server runs as may pass through it, and nobody may list it.

        Raises Invalid when the account cannot get there: no directory above is ever opened for it."""
        mode = 0o711 if account else 0o700
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            self.path.mkdir(mode)
            self.path.chmod(mode)
        barrier = account.barrier(self.path) if account else None
        if account and barrier:
            raise Invalid.field(
                "data",
                f"the database runs as {account.name}, who may not enter {barrier}: name another directory, for example {FOR_ROOT}",
            )

    def password(self, account: Account | None) -> str:
        """The role's password, made at the first call."""
        path = self.path / "password"
        if not path.exists():
            if self.major is not None:
                raise Invalid.field("data", f"{path} is missing, and without it nobody can log in to the database beside it")
            unfinished = path.with_suffix(".new")
            with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                file.write(secrets.token_urlsafe(24))
            if account:
                account.own(unfinished)
            unfinished.rename(path)
        return path.read_text()

    @property
    def key(self) -> Path:
        return self.path / "secret-key"

    def secret_key(self) -> str:
        """The key of secret parameters, made at the first call: whoever makes it first made it for all."""
        self.path.mkdir(0o700, parents=True, exist_ok=True)
        unfinished = self.path / f"secret-key.{os.getpid()}"
        if not self.key.exists():
            with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                file.write(new_key())
            with suppress(FileExistsError):
                os.link(unfinished, self.key)
            unfinished.unlink()
        return self.key.read_text()

    def port(self) -> int:
        """A free port of the loopback: the one of the last start when nobody has taken it since."""
        path = self.path / "port"
        last = int(path.read_text()) if path.exists() else 0
        port = _free(last) or _free(0)
        path.write_text(str(port))
        return port


def _free(port: int) -> int:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return 0
        return int(probe.getsockname()[1])
