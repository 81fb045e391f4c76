"""What a data directory says about the server that runs on it, and whether that is true."""

import os
import socket
import struct
from dataclasses import dataclass
from pathlib import Path

LOCK = "postmaster.pid"
SSL_REQUEST = struct.pack("!ii", 8, 80877103)


@dataclass(frozen=True, slots=True)
class Postmaster:
    """The main process of a server, the port it listens on, and what it says of itself (`ready`, `starting`, `stopping`)."""

    pid: int
    port: int
    status: str

    def serves(self) -> bool:
        """Whether it is ready and takes connections: PostgreSQL replies S or N to a request for encryption."""
        if self.status != "ready" or not alive(self.pid):
            return False
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=2) as connection:
                connection.sendall(SSL_REQUEST)
                return connection.recv(1) in (b"S", b"N")
        except OSError:
            return False


def serving(data: Path) -> Postmaster | None:
    """The server of this data directory, or None.  A lock file that a killed server left deceives nobody."""
    found = recorded(data)
    return found if found and found.serves() else None


def recorded(data: Path) -> Postmaster | None:
    """What the lock file names, alive or not; None when there is no complete one."""
    try:
        lines = (data / LOCK).read_text().splitlines()
        return Postmaster(pid=int(lines[0]), port=int(lines[3]), status=lines[7].strip())
    except (FileNotFoundError, IndexError, ValueError):
        return None


def forget_stranger(data: Path) -> None:
    """Remove a lock file whose number belongs to another program by now, as after a reboot or a container's restart.

    PostgreSQL itself cannot tell, and would refuse to start until somebody removes the file."""
    found = recorded(data)
    command = Path(f"/proc/{found.pid}/cmdline") if found else None
    if command and command.exists() and b"postgres" not in command.read_bytes():
        (data / LOCK).unlink()


def alive(pid: int) -> bool:
    """Whether a process of this number exists, whoever owns it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
