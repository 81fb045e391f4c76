"""`headway restrictions` and `headway run --force`."""

from pathlib import Path

from tests.cli.served import Served

FILE = """
restrictions:
  - {first: load, second: a/b, description: both take the table}
  - {first: load, second: load}
"""


async def test_restrictions_are_applied_shown_and_deleted(platform: Served, tmp_path: Path) -> None:
    """DEF-20: a file is applied, a pair is found by its names in any order, by its id, and is gone when it is deleted."""
    for name in ("load", "a/b"):
        await platform.ledger.scene.define(name)
    file = tmp_path / "restrictions.yaml"
    file.write_text(FILE)
    dry = await platform.headway("restrictions", "apply", str(file), "--dry-run")
    assert dry.stdout.splitlines()[-1] == "would be: 2 created"
    assert (await platform.headway("restrictions", "list")).stdout == "no restrictions\n"
    assert (await platform.headway("restrictions", "apply", str(file))).stdout.splitlines()[-1] == "2 created"
    assert (await platform.headway("restrictions", "apply", str(file))).stdout.splitlines()[-1] == "nothing changed"
    listed = await platform.said("restrictions", "list", "--definition", "a/b")
    shown = await platform.said("restrictions", "show", "a/b/load")
    assert [shown] == listed and await platform.said("restrictions", "show", shown["id"]) == shown
    assert "both take the table" in (await platform.headway("restrictions", "show", "load/a/b")).stdout
    gone = await platform.headway("restrictions", "delete", "load/load")
    assert (gone.exit_code, gone.stdout) == (0, "load/load deleted\n")
    assert (await platform.said("restrictions", "delete", shown["id"]))["change"] == "deleted"
    missing = await platform.headway("restrictions", "show", "load/load")
    assert (missing.exit_code, missing.stderr) == (
        2,
        "headway: restriction: there is no 'load/load'; headway restrictions list shows all\n",
    )
    stray = await platform.headway("restrictions", "show", "load")
    assert (stray.exit_code, stray.stderr) == (2, "headway: RESTRICTION: 'load' is not an id: headway restrictions list shows them\n")


async def test_a_name_that_there_is_not_is_named(platform: Served, tmp_path: Path) -> None:
    """CLI exit code 2 with every problem of the file, and nothing is written."""
    await platform.ledger.scene.define("load")
    file = tmp_path / "restrictions.yaml"
    file.write_text(FILE)
    refused = await platform.headway("restrictions", "apply", str(file))
    assert (refused.exit_code, refused.stderr) == (2, "headway: restrictions[0].second: there is no definition 'a/b'\n")
    assert (await platform.headway("restrictions", "list")).stdout == "no restrictions\n"


async def test_force_passes_a_restriction(platform: Served) -> None:
    """DEF-20: a run of a definition that is restricted with itself is held beside another, and with --force is not."""
    await platform.ledger.scene.define("load", restrictions=("load",))
    states = [(await platform.said("run", "load", *options))["state"] for options in ((), (), ("--force",))]
    assert states == ["queued", "held", "queued"]
