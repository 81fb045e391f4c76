"""`headway import`: definitions from what other schedulers keep."""

from typing import Annotated

import typer

from headway.cli.output import output_of
from headway.cli.root import NO, complain, example, verbs

app = verbs("Definitions from other schedulers.", "headway import crontab /etc/crontab --user-column --dry-run")


@app.callback()
def _group() -> None:
    """Keep the verb's name though it is the only one."""


@app.command(epilog=example("crontab -l | headway import crontab - --zone Europe/Berlin"))
def crontab(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(help="The crontab; - reads stdin.")],
    zone: Annotated[str, typer.Option(help="Zone of its times.")] = "UTC",
    user_column: Annotated[bool, typer.Option("--user-column", help="Lines name a user before the command, as in /etc/crontab.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change, and change nothing.")] = False,
) -> None:
    """Take the entries of a crontab; importing it again changes nothing."""
    from headway.cli.importing.crontab import translate
    from headway.cli.inputs import read_text
    from headway.cli.verbs.definitions import save

    translation = translate(read_text(file), zone=zone, user_column=user_column)
    for refused in translation.refused:
        complain(f"line {refused.line}: {refused.reason}: {refused.text}")
    if not translation.document["definitions"]:
        complain(f"{file} has no entry that could be taken")
        raise typer.Exit(NO)
    save(output_of(ctx), translation.document, dry_run=dry_run)
