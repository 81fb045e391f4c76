"""Kinds of schedule that packages add."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from headway.core.errors import Invalid
from headway.core.schedule.evaluate import next_slot
from headway.core.schedule.rule import parse_rule
from headway.runtime.plugins import register_plugins

MODULE = """
from datetime import UTC, datetime

class Eclipses:
    def __init__(self, parameters):
        self.years = parameters["years"]
    def first(self):
        return datetime(self.years[0], 8, 12, tzinfo=UTC)
    def next(self, after):
        return next((one for year in self.years if (one := datetime(year, 8, 12, tzinfo=UTC)) > after), None)
"""


def installed(folder: Path, target: str) -> None:
    """A package that declares a kind of schedule."""
    (folder / "sky_of_tests.py").write_text(MODULE)
    described = folder / "sky_of_tests-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: sky-of-tests\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(f"[headway.schedules]\neclipses = {target}\n")


def test_a_package_adds_a_kind_of_schedule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DEF-07: an entry point is a plug-in, known to every process that reads schedules."""
    installed(tmp_path, "sky_of_tests:Eclipses")
    monkeypatch.syspath_prepend(tmp_path)
    assert "eclipses" in register_plugins()
    rule = parse_rule({"plugin": "eclipses", "plugin_parameters": {"years": [2026, 2027]}})
    assert next_slot(rule, datetime(2026, 9, 1, tzinfo=UTC)) == datetime(2027, 8, 12, tzinfo=UTC)
    assert "eclipses" in register_plugins()


def test_a_package_that_cannot_be_imported_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CFG-02: a service does not start without a kind that its schedules may need."""
    installed(tmp_path, "no_such_module:Thing")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(Invalid, match=r"headway\.schedules\.eclipses"):
        register_plugins()
