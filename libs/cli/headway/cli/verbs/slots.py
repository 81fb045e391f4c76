"""`headway slots`: what was decided of each slot, and the proof that nothing was left out."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final

import typer

from headway.cli.output import Output, output_of
from headway.cli.root import NO, example, verbs
from headway.cli.verbs.schedules import identity

COLUMNS: Final = ("slot_at", "up_to", "slots", "decision", "reason", "detail", "effective_at", "run")
FINDING_COLUMNS: Final = ("at", "kind", "words")
COUNTED: Final = ("expected", "slots", "ranges", "slots_in_ranges", "broken")
LISTED: Final = ("findings", "differences", "remarks", "backfilled")

app = verbs("What was decided of each slot.", "headway slots list report/nightly", "headway slots prove report/nightly")
Schedule = Annotated[str, typer.Argument(help="Its id, or DEFINITION/NAME.")]


@app.command("list", epilog=example("headway slots list report/nightly --limit 100"))
def list_(
    ctx: typer.Context, schedule: Schedule, limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most so many.")] = 50
) -> None:
    """List what was decided, newest first: slots, and ranges of slots that were decided as one."""
    from headway.cli.client import api_of, path_of_id

    output = output_of(ctx)
    api = api_of(output)
    path = path_of_id("schedules", identity(api, schedule), "/slots")
    ranges = api.get(path, limit=min(limit, 200))["ranges"]
    output.table(ledger(api.items(path, limit), ranges, limit), COLUMNS, none="no slot was decided yet")


def ledger(slots: Sequence[Mapping[str, Any]], ranges: Sequence[Mapping[str, Any]], limit: int) -> list[dict[str, Any]]:
    """Return slots and ranges in one order, newest first, a range under the instant behind which it begins."""
    rows = [dict(one) for one in slots]
    rows += [{"slot_at": one["from_at"], "up_to": one["to_at"], **one} for one in ranges]
    return sorted(rows, key=lambda row: str(row.get("up_to") or row["slot_at"]), reverse=True)[:limit]


@app.command(
    epilog=example("headway slots prove report/nightly --from 2026-01-01T00:00:00Z", "headway slots prove report/nightly --output json")
)
def prove(
    ctx: typer.Context,
    schedule: Schedule,
    from_: Annotated[str | None, typer.Option("--from", help="Only slots behind this instant.")] = None,
    to: Annotated[str | None, typer.Option(help="Only slots up to this instant.")] = None,
) -> None:
    """Prove that every expected slot has one decision and that no other has any; exit code 1 if that does not hold."""
    from headway.cli.client import api_of, path_of_id
    from headway.cli.inputs import instant

    output = output_of(ctx)
    api = api_of(output)
    path = path_of_id("schedules", identity(api, schedule), "/proof")
    with output.progress("proving"):
        proof = joined(list(parts(api, path, instant(from_, "--from"), instant(to, "--to"))))
    tell(output, proof)
    if not proof["holds"]:
        raise typer.Exit(NO)


def parts(api: Any, path: str, begin: str | None, end: str | None) -> Iterator[dict[str, Any]]:
    """Yield the proofs of a period's parts, one behind the other."""
    while True:
        part = api.get(path, **{"from": begin, "to": end})
        yield part
        begin = part["next_from"]
        if begin is None:
            return


def joined(proofs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return one proof for the whole of several that follow one another."""
    first, last = proofs[0], proofs[-1]
    counts = {name: sum(one[name] for one in proofs) for name in COUNTED}
    lists = {name: list({str(entry): entry for one in proofs for entry in one[name]}.values()) for name in LISTED}
    return {**last, **counts, **lists, "from_at": first["from_at"], "holds": all(one["holds"] for one in proofs)}


def tell(output: Output, proof: dict[str, Any]) -> None:
    """Write a proof."""
    if output.json:
        output.document(proof)
        return
    said = "every slot has one decision" if proof["holds"] else "NOT every slot has one decision"
    output.say(f"{said}: {proof['from_at']} to {proof['to_at']}, decided until {proof['decided_until']}")
    output.say(f"{proof['expected']} expected, {proof['slots']} decided singly, {proof['slots_in_ranges']} in {proof['ranges']} ranges")
    for remark in proof["remarks"]:
        output.say(remark)
    for name, title in (("findings", f"{proof['broken']} findings"), ("differences", "explained by other zone data")):
        if proof[name]:
            output.heading(title)
            output.table(proof[name], FINDING_COLUMNS, none="")
    if proof["backfilled"]:
        output.heading("filled in afterwards")
        output.table(proof["backfilled"], ("slot_at", "run"), none="")
