"""`headway import`: definitions from what other schedulers keep."""

from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from headway.cli.output import output_of
from headway.cli.root import NO, complain, example, verbs

if TYPE_CHECKING:
    from headway.cli.importing.translation import Translation

app = verbs("Definitions from other schedulers.", "headway import crontab /etc/crontab --user-column --dry-run")


CRON_ZONE: Final = "Zone of its times."
OTHER_ZONE: Final = "Zone of the times for which the file names none."
DRY_RUN: Final = "Say what would change, and change nothing."
File: TypeAlias = Annotated[str, typer.Argument(help="The file; - reads stdin.")]
DryRun: TypeAlias = Annotated[bool, typer.Option("--dry-run", help=DRY_RUN)]


@app.command(epilog=example("crontab -l | headway import crontab - --zone Europe/Berlin"))
def crontab(
    ctx: typer.Context,
    file: File,
    zone: Annotated[str, typer.Option(help=CRON_ZONE)] = "UTC",
    user_column: Annotated[bool, typer.Option("--user-column", help="Lines name a user before the command, as in /etc/crontab.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Take the entries of a crontab; importing it again changes nothing."""
    from headway.cli.importing.crontab import translate
    from headway.cli.inputs import read_text

    conclude(ctx, file, translate(read_text(file), zone=zone, user_column=user_column), dry_run=dry_run)


@app.command("celery-beat", epilog=example("headway import celery-beat proj/celeryconfig.py --dry-run"))
def celery_beat(
    ctx: typer.Context, file: File, zone: Annotated[str, typer.Option(help=OTHER_ZONE)] = "UTC", dry_run: DryRun = False
) -> None:
    """Take the beat schedule of Celery from Python, which is never executed, or from JSON or YAML; importing it again changes nothing."""
    from headway.cli.importing.celery_beat import is_dump, translate
    from headway.cli.inputs import read_text

    text = read_text(file)
    conclude(ctx, file, translate(text, zone=zone, dump=is_dump(file, text)), dry_run=dry_run)


@app.command(epilog=example("kubectl get cronjobs -A -o yaml | headway import cronjob -"))
def cronjob(ctx: typer.Context, file: File, zone: Annotated[str, typer.Option(help=OTHER_ZONE)] = "UTC", dry_run: DryRun = False) -> None:
    """Take the CronJobs of Kubernetes manifests; importing them again changes nothing."""
    from headway.cli.importing.cronjob import translate
    from headway.cli.inputs import read_text

    conclude(ctx, file, translate(read_text(file), zone=zone), dry_run=dry_run)


def conclude(ctx: typer.Context, file: str, translation: "Translation", *, dry_run: bool) -> None:
    """Say what is left out and apply the rest.  Exits with 1 when there is nothing to apply."""
    from headway.cli.verbs.definitions import save

    for refused in translation.refused:
        complain(f"line {refused.line}: {refused.reason}: {refused.text}")
    if not translation.document["definitions"]:
        complain(f"{file} has no entry that could be taken")
        raise typer.Exit(NO)
    save(output_of(ctx), translation.document, dry_run=dry_run)
