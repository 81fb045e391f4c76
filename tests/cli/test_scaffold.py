"""`headway init`."""

import subprocess
import sys
from pathlib import Path

import pytest

from headway.cli.scaffold import scaffold
from headway.core.errors import Invalid
from tests.cli.command import headway


@pytest.mark.system
def test_a_new_application_passes_its_test(tmp_path: Path) -> None:
    """The scaffold is one file of jobs, a test that passes, and a README of five lines."""
    said = headway("init", "reports", cwd=tmp_path)
    assert said.code == 0
    assert said.out.splitlines()[-1] == "next: cd reports && headway up jobs.py"
    assert sorted(file.name for file in (tmp_path / "reports").iterdir()) == ["README.md", "jobs.py", "test_jobs.py"]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path / "reports",
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert len([line for line in (tmp_path / "reports" / "README.md").read_text().splitlines() if line]) == 5


@pytest.mark.system
def test_the_jobs_can_be_synced(tmp_path: Path, database_url: str) -> None:
    """What the scaffold declares is accepted as it stands (DEF-15)."""
    scaffold(str(tmp_path / "reports"))
    said = headway("sync", str(tmp_path / "reports" / "jobs.py"), given={"HEADWAY_DATABASE_URL": database_url})
    assert (said.code, said.err) == (0, "")
    assert "send_report" in said.out


def test_an_existing_folder_is_left_alone(tmp_path: Path) -> None:
    """Nothing is written into a folder that exists."""
    with pytest.raises(Invalid, match=r"NAME: .* exists: name another folder"):
        scaffold(str(tmp_path))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["a b", "", "it's"])
def test_a_name_is_one_that_code_can_hold(name: str, tmp_path: Path) -> None:
    """A name that no file of Python could quote is refused."""
    with pytest.raises(Invalid, match="NAME"):
        scaffold(f"{tmp_path}/{name}" if name else "")
