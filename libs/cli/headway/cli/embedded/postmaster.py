"""What a data directory says about the server that runs on it, and whether that is true."""

import os
import socket
import struct
from dataclasses import dataclass
from pathlib import Path

SSL_REQUEST = struct.pack("!ii", 8, 80877103)


@dataclass(frozen=True, slots=True)
class Postmaster:
    """The main process of a server and the port it listens on."""

    pid: int
    port: int

    def answers(self) -> bool:
        """Whether a PostgreSQL server takes connections on the port: it replies S or N to a request for encryption."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=2) as connection:
                connection.sendall(SSL_REQUEST)
                return connection.recv(1) in (b"S", b"N")
        except OSError:
            return False


def running(data: Path) -> Postmaster | None:
    """The live server of this data directory, or None.  A lock file that a killed server left does not deceive it."""
    found = recorded(data)
    return found if found and _alive(found.pid) and found.answers() else None


def recorded(data: Path) -> Postmaster | None:
    """What the lock file names, alive or not; None when there is no complete one."""
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
        return Postmaster(pid=int(lines[0]), port=int(lines[3]))
    except (FileNotFoundError, IndexError, ValueError):
        return None


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
