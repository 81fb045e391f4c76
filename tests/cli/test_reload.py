"""`headway worker --reload`: which files it watches, and what counts as a change."""

import os
from pathlib import Path

from headway.cli.reload import differing, look, watched


def test_the_folder_of_a_file_is_watched(tmp_path: Path) -> None:
    """An application in a file is watched with what stands beside it, a module where the command runs."""
    assert watched(f"{tmp_path}/jobs.py:app") == tmp_path
    assert watched("my.jobs:app") == Path.cwd()


def test_only_what_is_code_is_looked_at(tmp_path: Path) -> None:
    """Python files in folders below count; hidden folders, environments and other files do not."""
    for name in ("jobs.py", "deep/more.py", ".venv/lib.py", "venv/lib.py", "notes.txt"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    assert set(look(tmp_path)) == {tmp_path / "jobs.py", tmp_path / "deep/more.py"}


def test_new_changed_and_removed_files_differ(tmp_path: Path) -> None:
    """Every kind of change is seen, and no change is none."""
    for name in ("changed.py", "removed.py", "same.py"):
        (tmp_path / name).touch()
    before = look(tmp_path)
    assert differing(before, look(tmp_path)) == []
    os.utime(tmp_path / "changed.py", ns=(1, 1))
    (tmp_path / "removed.py").unlink()
    (tmp_path / "new.py").touch()
    assert [path.name for path in differing(before, look(tmp_path))] == ["changed.py", "new.py", "removed.py"]
