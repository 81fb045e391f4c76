"""The folder of one test run: what was started in it, by which worker, and how to end it.

<run>/groups/<id>       a process group that lives; the file holds the signal that ends it
<run>/containers/<id>   a container that lives
<run>/<name>.json       a thing that the workers share, made by the first of them
"""

import json
import signal
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from headway.cli.embedded.holders import alone


@dataclass(frozen=True, slots=True)
class RunDir:
    """The paths of one run, and the register of everything it has to end."""

    path: Path

    @classmethod
    def create(cls) -> "RunDir":
        """A new folder, passable (not listable) for the accounts that servers run as."""
        path = Path(tempfile.mkdtemp(prefix="headway-tests-"))
        path.chmod(0o711)
        for register in ("groups", "containers"):
            (path / register).mkdir()
        return cls(path)

    def shared(self, name: str, make: Callable[[], dict[str, str]]) -> dict[str, str]:
        """What `make` returned in the first worker that asked; the others wait for it."""
        record = self.path / f"{name}.json"
        with alone(self.path / f"{name}.lock"):
            if not record.exists():
                record.write_text(json.dumps(make()))
            found: dict[str, str] = json.loads(record.read_text())
            return found

    def found(self, name: str) -> dict[str, str] | None:
        """What `shared` has kept under this name, if anything."""
        record = self.path / f"{name}.json"
        return json.loads(record.read_text()) if record.exists() else None

    def register_group(self, group: int, end: signal.Signals) -> None:
        """Have this process group ended by `end` when the run is over."""
        (self.path / "groups" / str(group)).write_text(str(int(end)))

    def forget_group(self, group: int) -> None:
        """The group has ended: its number may belong to somebody else from now on."""
        with suppress(FileNotFoundError):
            (self.path / "groups" / str(group)).unlink()

    def register_container(self, name: str) -> None:
        """Have this container removed when the run is over."""
        (self.path / "containers" / name).touch()
