"""`headway doctor`: whether everything that is promised holds."""

from typing import TYPE_CHECKING, Annotated

import typer

from headway.cli.output import Output, output_of
from headway.cli.root import NO, example

if TYPE_CHECKING:
    from headway.store.doctor import Finding


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(epilog=example("headway doctor", "headway doctor --fix --output json"))(doctor)


def doctor(
    ctx: typer.Context,
    fix: Annotated[bool, typer.Option("--fix", help="Repair what is safe to repair, and say what was done.")] = False,
) -> None:
    """Check every invariant in the database; exit code 1 if one is broken."""
    import asyncio

    findings, done = asyncio.run(examine(fix=fix))
    tell(output_of(ctx), findings, done)
    if not all(finding.ok for finding in findings):
        raise typer.Exit(NO)


async def examine(*, fix: bool) -> tuple[list["Finding"], list[str]]:
    """Return what holds and what does not, after the repairs, and what was repaired."""
    from headway.cli.ground import database
    from headway.store import doctor

    async with database("doctor") as opened:
        done = await opened.transact(doctor.repair) if fix else []
        return await opened.transact(doctor.examine), done


def tell(output: Output, findings: list["Finding"], done: list[str]) -> None:
    """Write the findings."""
    if output.json:
        shown = [
            {"name": one.name, "promise": one.promise, "ok": one.ok, "broken": one.broken, "examples": list(one.examples)}
            for one in findings
        ]
        output.document({"ok": all(one.ok for one in findings), "findings": shown, "repaired": done})
        return
    rows = [
        {"": "holds" if one.ok else "broken", "promise": one.promise, "rows": one.broken or "", "examples": ", ".join(one.examples)}
        for one in findings
    ]
    output.table(rows, ("", "promise", "rows", "examples"), none="nothing to check")
    for repair in done:
        output.say(repair)
