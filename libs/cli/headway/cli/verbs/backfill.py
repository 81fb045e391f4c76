"""`headway schedules backfill`: runs for slots of the past, first as a plan, then exactly that plan."""

from datetime import datetime
from typing import Annotated, Any, Final

import typer

from headway.cli.output import Output, output_of
from headway.cli.root import example
from headway.cli.verbs.preview import schedules
from headway.cli.verbs.schedules import identity
from headway.core.errors import Invalid

__all__ = ["schedules"]

COLUMNS: Final = ("slot_at", "run")


@schedules.command(
    epilog=example(
        "headway schedules backfill report/nightly --from 2026-01-01T00:00:00Z --to 2026-01-31T00:00:00Z > plan.json",
        "headway schedules backfill report/nightly --apply plan.json",
    )
)
def backfill(
    ctx: typer.Context,
    schedule: Annotated[str, typer.Argument(help="Its id, or DEFINITION/NAME.")],
    from_: Annotated[str | None, typer.Option("--from", help="Slots behind this instant.")] = None,
    to: Annotated[str | None, typer.Option(help="Slots up to this instant.")] = None,
    apply: Annotated[str | None, typer.Option(metavar="PLAN", help="Do what this plan says; - reads it from stdin.")] = None,
) -> None:
    """Print a plan of the slots that would be filled in, or apply one, all of it or nothing."""
    from headway.cli.client import api_of, path_of_id
    from headway.cli.inputs import instant

    output = output_of(ctx)
    api = api_of(output)
    wanted: dict[str, Any] = {"from": instant(from_, "--from"), "to": instant(to, "--to")}
    if apply is not None:
        wanted |= {"apply": True, "plan": read_plan(apply)}
    done = api.post(path_of_id("schedules", identity(api, schedule), ":backfill"), wanted)
    if done["applied"]:
        _tell_done(output, done)
    else:
        _tell_plan(output, schedule, done["plan"])


def read_plan(file: str) -> dict[str, Any]:
    """Return the plan of a file.  Raises Invalid."""
    from headway.cli.inputs import read_text
    from headway.cli.strict import read_json

    found = read_json(read_text(file), "--apply")
    if not isinstance(found, dict):
        raise Invalid.field("--apply", f"{file} is no plan: headway schedules backfill --from --to prints one")
    return found


def _tell_plan(output: Output, schedule: str, plan: dict[str, Any]) -> None:
    """Write the plan, and beside it, on stderr, what it comes to."""
    output.document(plan)
    fired = sum(1 for one in plan["slots"] if one["run"] is not None)
    left = f"{plan['skipped_by_calendar']} skipped by calendars and {plan['filled_in_before']} filled in before are left out"
    typer.echo(f"{len(plan['slots'])} slots to fill in, {fired} of which had a run; {left}", err=True)
    if datetime.fromisoformat(plan["from"]) < datetime.fromisoformat(plan["known_from"]):
        typer.echo(f"the schedule did not exist, or is not on record, before {plan['known_from']}", err=True)
    typer.echo(f"to do it: headway schedules backfill {schedule} --apply PLAN", err=True)


def _tell_done(output: Output, done: dict[str, Any]) -> None:
    if output.json:
        output.document(done)
        return
    output.table(done["runs"], COLUMNS, none="the plan has no slots")
    typer.echo(f"{len(done['runs'])} runs wait for their turns, one at a time", err=True)
