"""`headway slots`: the ledger and its proof, as a person and as a program see them."""

from datetime import timedelta

from tests.cli.served import Served
from tests.store.ledger import START

MINUTE = timedelta(minutes=1)


async def decided(platform: Served) -> None:
    """A schedule with a missed stretch and slots in time."""
    await platform.ledger.begin({"every": "1m"}, overlap="allow", overlap_max=100)
    await platform.ledger.decide(START + 30 * MINUTE)
    await platform.ledger.decide(START + 31 * MINUTE)


async def test_the_ledger_is_listed(platform: Served) -> None:
    """OBS-06: slots and ranges in one order, newest first, with what was decided and why."""
    await decided(platform)
    rows = await platform.said("slots", "list", "job/default")
    assert [row["decision"] for row in rows] == ["skipped", "fired", "skipped"]
    assert (rows[0]["reason"], rows[1]["run"] is not None) == ("overlap", True)
    assert (rows[-1]["reason"], rows[-1]["slots"]) == ("missed", 29)
    assert "misfire policy skip" in rows[-1]["detail"]
    assert len(await platform.said("slots", "list", "job/default", "--limit", "1")) == 1
    table = await platform.headway("slots", "list", "job/default")
    assert table.stdout.splitlines()[0].split()[:5] == ["slot", "at", "up", "to", "slots"]


async def test_a_proof_that_holds(platform: Served) -> None:
    """OBS-06: exit code 0, the counts, and the instant until which slots are decided."""
    await decided(platform)
    shown = await platform.headway("slots", "prove", "job/default")
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.startswith("every slot has one decision: ")
    assert "31 expected, 2 decided singly, 29 in 1 ranges" in shown.stdout
    proof = await platform.said("slots", "prove", str(platform.ledger.schedule), "--from", "2030-01-07T12:10:00Z")
    assert (proof["holds"], proof["expected"], proof["from_at"]) == (True, 21, "2030-01-07T12:10:00Z")


async def test_a_proof_that_does_not_hold(platform: Served) -> None:
    """OBS-06: exit code 1, and each finding with its instant."""
    await decided(platform)
    await platform.ledger.scene.sql("DELETE FROM headway.slot WHERE slot_at = $1", START + 31 * MINUTE)
    shown = await platform.headway("slots", "prove", "job/default")
    assert shown.exit_code == 1
    assert "2030-01-07T12:31:00Z  missing  has no decision" in shown.stdout
    [finding] = (await platform.said("slots", "prove", "job/default"))["findings"]
    assert (finding["kind"], finding["at"]) == ("missing", "2030-01-07T12:31:00Z")


async def test_a_schedule_that_is_not_there(platform: Served) -> None:
    """CFG-03: exit code 2 and one line that names what helps."""
    await platform.ledger.begin({"every": "1m"})
    assert (await platform.headway("slots", "prove", "job/other")).exit_code == 2
    assert "is not an instant" in (await platform.headway("slots", "prove", "job/default", "--to", "tomorrow")).stderr
