"""A process that starts again whenever a Python file changes, for development."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from headway.cli.root import complain

LOOK: Final = 0.5  # seconds between two looks at the files
IGNORED: Final = frozenset({"venv", "node_modules", "__pycache__"})

Seen = Mapping[Path, int]


def run_again(app: str, arguments: Sequence[str]) -> int:
    """Run `headway` with these arguments until this process is asked to stop, again after every change; answers the last exit code."""
    root = watched(app)
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, signal.default_int_handler)
    while True:
        before = look(root)
        child = subprocess.Popen([sys.executable, "-m", "headway.cli", *arguments], start_new_session=True)
        try:
            changed = _wait_for_change(root, before)
        except KeyboardInterrupt:
            return _end(child)
        complain(f"{', '.join(changed)} changed: starting again")
        _end(child)


def watched(app: str) -> Path:
    """Return the folder whose files matter: the one of an application's file, or the working directory."""
    file = Path(app.partition(":")[0])
    return file.resolve().parent if file.suffix == ".py" else Path.cwd()


def look(root: Path) -> Seen:
    """Return when each Python file under a folder was changed last."""
    return {path: path.stat().st_mtime_ns for path in _files(root)}


def differing(before: Seen, after: Seen) -> list[Path]:
    """Return the files that are new, gone or changed."""
    return sorted({path for path, _ in before.items() ^ after.items()})


def _files(root: Path) -> Iterator[Path]:
    for path in root.iterdir():
        if path.is_dir():
            if not (path.is_symlink() or path.name in IGNORED or path.name.startswith(".")):
                yield from _files(path)
        elif path.suffix == ".py":
            yield path


def _wait_for_change(root: Path, before: Seen) -> list[str]:
    """Wait also where the child has died: the change that mends it starts it again."""
    while not (changed := differing(before, look(root))):
        time.sleep(LOOK)
    return [str(path.relative_to(root)) for path in changed]


def _end(child: "subprocess.Popen[bytes]") -> int:
    child.terminate()
    return child.wait()
