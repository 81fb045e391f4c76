"""`headway runs`: read runs, cancel them, run them again."""

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final

import typer

from headway.cli.inputs import instant
from headway.cli.options import spread
from headway.cli.output import Output, output_of
from headway.cli.root import example, verbs
from headway.core.durations import parse_duration
from headway.core.errors import Invalid

COLUMNS: Final = ("id", "definition", "state", "created_at", "reason")
FIELDS: Final = (
    "id",
    "definition",
    "state",
    "outcome",
    "cause",
    "reason",
    "note",
    "queue",
    "priority",
    "handler",
    "origin",
    "parent",
    "batch_index",
    "rerun_of",
    "replay_of",
    "replayed_by",
    "triggered",
    "slot_at",
    "created_at",
    "created_by",
    "available_at",
    "started_at",
    "finished_at",
    "key",
    "correlation",
    "crashes",
    "cancel_requested_at",
    "cancel_by",
)
ATTEMPT_COLUMNS: Final = ("attempt", "outcome", "started_at", "ended_at", "session", "reason")
EVENT_COLUMNS: Final = ("at", "state", "by", "why")

app = verbs("Read runs, cancel them, run them again.", "headway runs list --state failed --since 1d", "headway runs show RUN")

Run = Annotated[str, typer.Argument(metavar="RUN", help="The run's id.")]


Reason = Annotated[str, typer.Option(help="Why; it is kept.")]


@dataclass(frozen=True, slots=True)
class Narrowed:
    """What a listing is narrowed to."""

    state: Annotated[list[str] | None, typer.Option(help="held, scheduled, queued, running, succeeded, failed, cancelled or skipped.")] = (
        None
    )
    definition: Annotated[str | None, typer.Option(help="Runs of this definition.")] = None
    queue: Annotated[str | None, typer.Option(help="Runs of this queue.")] = None
    correlation: Annotated[str | None, typer.Option(help="Runs of this correlation id.")] = None
    parent: Annotated[str | None, typer.Option(help="Runs that this run, or its end by a trigger, asked for.")] = None
    since: Annotated[str | None, typer.Option(help="Created since an instant, or in the last 90s, 5m, 2h, 1d.")] = None
    limit: Annotated[int, typer.Option(min=1, help="Most runs that are listed.")] = 50


@app.command("list", epilog=example("headway runs list --definition hello --state succeeded --limit 5"))
@spread
def list_(ctx: typer.Context, narrowed: Narrowed) -> None:
    """List runs, newest first."""
    output = output_of(ctx)
    output.table(found(output, narrowed), COLUMNS, none="no runs")


def found(output: Output, narrowed: Narrowed) -> list[Any]:
    """Return the newest runs that a listing is narrowed to."""
    from headway.cli.client import api_of

    api = api_of(output)
    query = asdict(narrowed)
    limit, since = query.pop("limit"), query.pop("since")
    if since is not None and (span := _span(since)) is not None:
        since = (api.now() - span).isoformat()
    return api.items("/v1/runs", limit, **query, since=instant(since, "--since"))


def _span(text: str) -> Any:
    try:
        return parse_duration(text, "--since")
    except Invalid:
        return None


@app.command(epilog=example("headway runs show 01a2b3c4-0000-7000-8000-000000000000"))
def show(ctx: typer.Context, run: Run) -> None:
    """Show a run with its attempts, what it was given, its output and its history."""
    from headway.cli.client import api_of, path_of_id
    from headway.cli.lacking import lack_of

    api = api_of(output_of(ctx))
    document = api.get(path_of_id("runs", run))
    parts = {name: api.get(path_of_id("runs", run, f"/{name}")) for name in ("content", "attempts", "history")}
    write(output_of(ctx), {**document, "note": lack_of(api, document), **parts})


@app.command(epilog=example("headway runs cancel RUN --reason 'wrong customer'"))
def cancel(ctx: typer.Context, run: Run, reason: Reason = "") -> None:
    """Cancel a run: at once if it waits, by a wish to its worker if it runs."""
    from headway.cli.client import api_of, path_of_id

    output = output_of(ctx)
    document = api_of(output).post(path_of_id("runs", run, ":cancel"), {"reason": reason})
    if output.json:
        output.document(document)
    else:
        output.say(f"{run} {document['display']}")


@app.command(epilog=example("headway runs rerun RUN --reason 'the customer asked for it again'"))
def rerun(ctx: typer.Context, run: Run, reason: Reason = "") -> None:
    """Make a fresh run of what a finished run was given, as often as you like."""
    _again(output_of(ctx), run, "rerun", reason)


@app.command(epilog=example("headway runs replay RUN --reason 'the bank is back'"))
def replay(ctx: typer.Context, run: Run, reason: Reason = "") -> None:
    """Run a failed run once more, once, in its place: for the same slot, idempotency token and key."""
    _again(output_of(ctx), run, "replay", reason)


def _again(output: Output, run: str, verb: str, reason: str) -> None:
    from headway.cli.client import api_of, path_of_id
    from headway.cli.verbs.run import told

    accepted = api_of(output).post(path_of_id("runs", run, f":{verb}"), {"reason": reason})
    if output.json:
        output.document(accepted)
    else:
        output.say(told(accepted))


def write(output: Output, run: dict[str, Any]) -> None:
    """Write everything about a run."""
    if output.json:
        output.document(run)
        return
    output.fields({**run, "state": run["display"], "triggered": lineage(run)}, FIELDS)
    if progress := run["progress"]:
        output.fields({"progress": f"{progress['percent']} % {progress['message']}"}, ("progress",))
    content = run["content"]
    output.fields(content, ("params", "payload"))
    _write_result(output, content["result"])
    _write_error(output, run["error"])
    for name, columns in (("attempts", ATTEMPT_COLUMNS), ("history", EVENT_COLUMNS)):
        output.heading(name)
        output.table(run[name], columns, none=f"no {name}")


def lineage(run: dict[str, Any]) -> str:
    """Return how a run came about when a trigger asked for it."""
    if run["origin"] != "trigger":
        return ""
    further = f", {run['depth']} triggers deep" if run["depth"] > 1 else ""
    return f"by run {run['parent']} through trigger {run['created_by'].removeprefix('trigger:')}{further}"


def _write_result(output: Output, result: Any) -> None:
    """Write a result; of a command's, the captured output as it was printed."""
    if isinstance(result, dict) and {"exit_code", "output"} <= result.keys():
        output.fields(result, [name for name in result if name != "output"])
        output.heading("output")
        typer.echo(result["output"].rstrip("\n") or "(nothing)")
    else:
        output.fields({"result": result}, ("result",))


def _write_error(output: Output, error: dict[str, Any] | None) -> None:
    if error is None:
        return
    output.heading("error")
    typer.echo(f"{error['kind']}: {error['message']}")
    if error["stack"]:
        typer.echo(error["stack"].rstrip("\n"))
