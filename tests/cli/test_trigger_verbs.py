"""`headway triggers`, and what other verbs show of triggers."""

from pathlib import Path

from headway.cli.trigger_rows import row_of
from headway.cli.verbs.runs import lineage
from headway.core.ask import QUIET
from headway.store import reactions
from headway.store.reactions import Kind
from headway.store.triggering import triggering
from tests.cli.served import Served
from tests.store.test_triggering import end

FILE = """
triggers:
  - {source: a, target: b, condition: {key: rows, operator: greater, value: 0}}
  - {source: b, name: late, target: c/d, condition: {key: Result, operator: not_in, value: [success]}, enabled: false}
"""


async def applied(platform: Served, tmp_path: Path) -> Path:
    """A file of triggers that was applied."""
    for name in ("a", "b", "c/d"):
        await platform.ledger.scene.define(name)
    file = tmp_path / "triggers.yaml"
    file.write_text(FILE, encoding="utf-8")
    done = await platform.headway("triggers", "apply", str(file))
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[-1] == "2 created"
    return file


async def test_triggers_are_applied_shown_switched_and_deleted(platform: Served, tmp_path: Path) -> None:
    """API-01, API-06: every verb says what it did; SOURCE/NAME is as good as an id."""
    file = await applied(platform, tmp_path)
    again = await platform.headway("triggers", "apply", str(file), "--dry-run")
    assert again.stdout.splitlines()[-1] == "nothing changed"
    table = (await platform.headway("triggers", "list")).stdout.splitlines()
    first, second = sorted(table[1:], key=lambda line: line.split()[1])
    assert [line.split()[1:4] for line in (first, second)] == [["a", "b", "b"], ["b", "late", "c/d"]]
    assert "rows greater 0" in first and 'Result not in ["Success"]' in second
    assert [one["name"] for one in await platform.said("triggers", "list", "--target", "c/d")] == ["late"]
    shown = await platform.said("triggers", "show", "b/late")
    assert (shown["enabled"], shown["version"]) == (False, 1)
    assert (await platform.headway("triggers", "enable", shown["id"])).stdout == "b/late enabled, version 2\n"
    assert (await platform.said("triggers", "disable", "b/late"))["version"] == 3
    assert "Result not in" in (await platform.headway("triggers", "show", "b/late")).stdout
    assert (await platform.headway("triggers", "delete", "b/late")).stdout == "b/late deleted\n"
    missing = await platform.headway("triggers", "show", "b/late")
    assert (missing.exit_code, missing.stderr) == (2, "headway: trigger: there is no 'b/late'; headway triggers list shows all\n")


async def test_what_is_wrong_with_a_file_is_said_at_once(platform: Served, tmp_path: Path) -> None:
    """API-02, TRG-04: exit code 2, a line for each field, a circle by its path; nothing is kept."""
    await applied(platform, tmp_path)
    file = tmp_path / "wrong.yaml"
    file.write_text("triggers: [{source: b, target: a}, {source: b, target: x}, {source: y, target: a}]", encoding="utf-8")
    wrong = await platform.headway("triggers", "apply", str(file))
    assert (wrong.exit_code, wrong.stderr) == (2, "headway: triggers[2].source: there is no definition 'y'\n")
    file.write_text("triggers: [{source: b, target: a}]", encoding="utf-8")
    circle = await platform.headway("triggers", "apply", str(file))
    assert (circle.exit_code, circle.stderr) == (2, "headway: triggers[0].target: closes a circle: b -> a -> b\n")
    assert len(await platform.said("triggers", "list")) == 2


async def test_a_definition_shows_its_triggers(platform: Served, tmp_path: Path) -> None:
    """DEF-02: `definitions show` has them beside the schedules, and what it says as JSON may be applied again."""
    await applied(platform, tmp_path)
    lines = (await platform.headway("definitions", "show", "a")).stdout.splitlines()
    assert lines[lines.index("triggers") + 2].split()[:2] == ["b", "b"]
    document = await platform.said("definitions", "show", "a")
    assert [one["target"] for one in document["triggers"]] == ["b"]


async def test_a_run_tells_by_what_it_was_triggered(platform: Served, tmp_path: Path) -> None:
    """TRG-04: `runs show` names the run and the trigger behind it, `runs list --parent` the runs that followed one."""
    await applied(platform, tmp_path)
    scene = platform.ledger.scene
    await scene.sql("UPDATE headway.trigger SET condition = NULL")
    source = await end(scene, name="a", depth=3)
    await reactions.work_off(scene.database, {Kind.TRIGGER: triggering(lambda fired: None)})
    [child] = await platform.said("runs", "list", "--parent", str(source))
    shown = (await platform.headway("runs", "show", child["id"])).stdout
    assert f"by run {source} through trigger b, 4 triggers deep" in shown
    assert f"triggered by run {source} through trigger b" in shown


async def test_a_run_is_asked_for_without_triggers(platform: Served) -> None:
    """TRG-05: `headway run --no-triggers` makes a quiet run."""
    await platform.ledger.scene.define("a")
    assert (await platform.headway("run", "a", "--no-triggers")).exit_code == 0
    assert [row["owes"] for row in await platform.ledger.scene.sql("SELECT owes FROM headway.run")] == [QUIET]


def test_conditions_and_lineage_in_words() -> None:
    """A trigger without a condition says when it fires; a run that nobody triggered says nothing."""
    assert row_of({"condition": None})["condition"] == "succeeded"
    assert row_of({"condition": {"key": "x", "operator": "starts_with", "value": "é"}})["condition"] == 'x starts with "é"'
    assert lineage({"origin": "call"}) == ""
    assert lineage({"origin": "trigger", "parent": "p", "depth": 1, "created_by": "trigger:next"}) == "by run p through trigger next"
