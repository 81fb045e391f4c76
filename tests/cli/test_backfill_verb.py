"""`headway schedules backfill`: a plan on stdout, what it comes to on stderr, and the same plan applied."""

import json
from datetime import timedelta
from pathlib import Path

from tests.cli.served import Served
from tests.store.ledger import START

PERIOD = ["--from", "2030-01-07T00:00:00Z", "--to", "2030-01-08T12:00:00Z"]


async def test_a_plan_is_printed_and_applied(platform: Served, tmp_path: Path) -> None:
    """BB-030: what is printed is what is applied, once; a plan that was touched is refused."""
    await platform.ledger.begin({"every": "1h"})
    await platform.ledger.decide(START + timedelta(hours=5.5))
    printed = await platform.headway("schedules", "backfill", "job/default", *PERIOD)
    assert printed.exit_code == 0, printed.output
    plan = tmp_path / "plan.json"
    plan.write_text(printed.stdout)
    assert len(json.loads(printed.stdout)["slots"]) == 5
    assert "5 slots to fill in, 0 of which had a run" in printed.stderr
    assert "is not on record, before 2030-01-07T12:00:00" in printed.stderr
    touched = tmp_path / "touched.json"
    touched.write_text(printed.stdout.replace("13:00:00", "13:30:00"))
    refused = await platform.headway("schedules", "backfill", "job/default", "--apply", str(touched))
    assert (refused.exit_code, "digest" in refused.stderr) == (2, True)
    applied = await platform.headway("schedules", "backfill", "job/default", "--apply", str(plan))
    assert applied.exit_code == 0, applied.output
    assert "5 runs wait for their turns" in applied.stderr
    again = await platform.headway("schedules", "backfill", "job/default", "--apply", str(plan))
    assert (again.exit_code, "filled in since" in again.stderr) == (1, True)
    assert len(await platform.ledger.runs()) == 5


async def test_what_cannot_be_read(platform: Served, tmp_path: Path) -> None:
    """CFG-03: exit code 2 and a line that says what is missing."""
    await platform.ledger.begin({"every": "1h"})
    assert "to: is required" in (await platform.headway("schedules", "backfill", "job/default", *PERIOD[:2])).stderr
    odd = tmp_path / "odd.json"
    for text in ("[1]", "{"):
        odd.write_text(text)
        assert (await platform.headway("schedules", "backfill", "job/default", "--apply", str(odd))).exit_code == 2
