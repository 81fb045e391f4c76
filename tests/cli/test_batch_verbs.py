"""`headway batches`, as a person and as a program use it."""

from pathlib import Path
from uuid import UUID

from headway.store import reactions
from tests.cli.served import Served
from tests.store.batching import DOING, Batches
from tests.store.scene import Scene

BATCH = """
definition: job
params: {customer: acme}
closed: false
children:
  - {params: {pages: 1}}
  - {params: {PAGES: 2}, priority: 9}
"""


async def test_a_batch_goes_through_its_life(platform: Served, tmp_path: Path) -> None:
    """BAT-01, BAT-03, BAT-06: applied from YAML, appended to from JSON Lines, closed and shown with how its children ended."""
    scene = Scene(platform.database)
    await scene.define()
    file, more = tmp_path / "batch.yaml", tmp_path / "more.jsonl"
    file.write_text(BATCH)
    more.write_text('{"params": {"pages": 3}}\n\n{}\n')
    made = await platform.said("batches", "apply", str(file), "--key", "k")
    again = await platform.headway("batches", "apply", str(file), "--key", "k")
    assert again.stdout.startswith(f"{made['id']} 2 children, asked for before under this key")
    done = await platform.headway("batches", "append", made["id"], str(more), "--key", "a")
    assert done.stdout == f"{made['id']} 2 children appended, 4 in all\n"
    assert (await platform.said("batches", "append", made["id"], str(more), "--key", "a"))["existing"]
    closed = await platform.headway("batches", "close", made["id"], "--reason", "enough")
    assert closed.stdout == f"{made['id']} closed, 0/4 children complete\n"
    batches = Batches(scene)
    await batches.end((await batches.ids(UUID(made["id"])))[:1])
    await reactions.work_off(platform.database, DOING)
    shown = await platform.headway("batches", "show", made["id"])
    assert "25 % 1/4 children complete" in shown.stdout
    assert '{"success": 1}' in shown.stdout
    run = await platform.headway("runs", "show", made["id"])
    assert "25 % 1/4 children complete" in run.stdout
    document = await platform.said("batches", "show", made["id"], "--children", "3")
    assert [one["batch_index"] for one in document["children"]] == [0, 1, 2]
    assert [one["id"] for one in await platform.said("batches", "list")] == [made["id"]]
    listed = await platform.headway("batches", "list")
    assert "1/4 children complete" in listed.stdout


async def test_a_batch_from_json_lines_is_cancelled(platform: Served, tmp_path: Path) -> None:
    """BAT-06: the first line is the batch, each other one a child; a cancel ends what waits at once."""
    await Scene(platform.database).define()
    file = tmp_path / "batch.jsonl"
    file.write_text('{"definition": "job", "max_concurrent": 5}\n' + '{"params": {"n": 1}}\n' * 300)
    made = await platform.said("batches", "apply", str(file))
    assert made["total"] == 300
    done = await platform.headway("batches", "cancel", made["id"], "--reason", "not today")
    assert (done.exit_code, done.stdout) == (0, f"{made['id']} cancelled\n")
    shown = await platform.said("batches", "show", made["id"])
    assert (shown["state"], shown["outcomes"], len(shown["children"])) == ("cancelled", {"cancelled": 300}, 50)


async def test_what_is_wrong_is_one_line_each(platform: Served, tmp_path: Path) -> None:
    """Exit code 2 and the field's name for a wrong child, a wrong line, a wrong id; nothing is kept."""
    await Scene(platform.database).define()
    for name, text, said in (
        ("a.yaml", "definition: job\nchildren: [{}, {priority: 12}]", "children[1].priority"),
        ("b.yaml", "definition: nobody\nchildren: [{}]", "definition: there is no definition 'nobody'"),
        ("c.jsonl", '{"definition": "job"}\n{"params": ', "FILE: line 2: is not JSON"),
        ("d.jsonl", "[]\n{}", "must have a mapping in its first line"),
        ("e.yaml", "- 1", "must hold a mapping with `children`"),
    ):
        (tmp_path / name).write_text(text)
        done = await platform.headway("batches", "apply", str(tmp_path / name))
        assert done.exit_code == 2, done.output
        assert said in done.stderr
    assert await platform.said("batches", "list") == []
    wrong = await platform.headway("batches", "show", "7")
    assert (wrong.exit_code, wrong.stderr) == (2, "headway: BATCH: '7' is not an id: headway batches list shows them\n")
    missing = await platform.headway("batches", "close", "01a2b3c4-0000-7000-8000-000000000000")
    assert missing.exit_code == 2
