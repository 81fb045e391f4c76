"""`headway run`: ask for a run, and follow it."""

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from headway.cli.inputs import duration, instant, parameters, read_as_json
from headway.cli.options import spread
from headway.cli.output import Output, output_of
from headway.cli.root import NO, complain, example

if TYPE_CHECKING:
    from rich.status import Status
    from tenacity import RetryCallState

    from headway.cli.client import Api
    from headway.cli.lacking import Lookout

SUCCEEDED: Final = "succeeded"
SOONEST, LATEST = 0.05, 1.0  # seconds between two looks at a run


def register(app: typer.Typer) -> None:
    """Add the verb."""
    examples = (
        "headway run hello -p name=Ada --wait",
        'headway run send_report --json \'{"customer": "acme"}\' --delay 5m --key invoice-42',
    )
    app.command("run", epilog=example(*examples))(run)


@dataclass(frozen=True, slots=True)
class Wish:
    """What the options say of the run that is wanted."""

    params: Annotated[
        list[str] | None,
        typer.Option(
            "-p", metavar="KEY=VALUE", help="A parameter: JSON where it is JSON, else text; -p 'pages=5' is a number, -p 'zip=\"5\"' text."
        ),
    ] = None
    json_text: Annotated[str | None, typer.Option("--json", metavar="TEXT", help="Parameters as one JSON mapping.")] = None
    delay: Annotated[str | None, typer.Option(help="How long from now: 90s, 5m, 2h, 1d.")] = None
    at: Annotated[str | None, typer.Option(metavar="TIME", help="When: 2026-01-31T07:00:00Z.")] = None
    key: Annotated[str | None, typer.Option(help="The same key is the same run, however often it is asked for.")] = None
    priority: Annotated[int | None, typer.Option(min=0, max=9, help="9 is the most urgent.")] = None
    payload: Annotated[str | None, typer.Option(metavar="TEXT", help="Text for the handler alone, in the place of parameters.")] = None
    force: Annotated[bool, typer.Option("--force", help="Start although a restriction forbids it; that is kept.")] = False
    no_triggers: Annotated[bool, typer.Option("--no-triggers", help="Its end fires no triggers.")] = False
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check everything and keep nothing.")] = False
    wait: Annotated[bool, typer.Option("--wait", help="Follow to the end and print the result; exit code 1 if it did not succeed.")] = False

    def document(self, definition: str) -> dict[str, Any]:
        """Return what the API is asked for.  Raises Invalid with the option that is wrong."""
        return {
            "definition": definition,
            "params": parameters(self.params or [], self.json_text),
            "payload": self.payload,
            "delay": duration(self.delay, "--delay"),
            "at": instant(self.at, "--at"),
            "key": self.key,
            "priority": self.priority,
            "force": self.force or None,
            "no_triggers": self.no_triggers or None,
            "dry_run": self.dry_run or None,
        }


@spread
def run(ctx: typer.Context, definition: Annotated[str, typer.Argument(help="Name of what is run.")], wish: Wish) -> None:
    """Ask for a run of a definition."""
    with read_as_json(wish.params or []):
        ask(output_of(ctx), wish.document(definition), wait=wish.wait)


def ask(output: Output, wanted: dict[str, Any], *, wait: bool) -> None:
    """Ask for the run, say what became of it, and follow it if that is wished."""
    from headway.cli.client import api_of

    api = api_of(output)
    accepted = api.post("/v1/runs", wanted)
    if wait and accepted["id"] is not None:
        conclude(output, api, follow(output, api, accepted["id"]))
    elif output.json:
        output.document(accepted)
    else:
        output.say(told(accepted))


def told(accepted: dict[str, Any]) -> str:
    """Return what a person is told of an accepted run."""
    if accepted["id"] is None:
        return f"{accepted['definition']} would run: nothing was kept"
    again = ", asked for before under this key" if accepted["existing"] else ""
    return f"{accepted['id']} {accepted['state']}{again}\nheadway runs show {accepted['id']}"


def follow(output: Output, api: "Api", run_id: str) -> dict[str, Any]:
    """Return a run when it has ended; until then its progress is shown."""
    from tenacity import Retrying, retry_if_result, wait_exponential

    from headway.cli.lacking import Lookout
    from headway.core.run import FINAL

    ended = {state.name.lower() for state in FINAL}
    lookout = Lookout(api)
    with output.progress(f"{run_id} queued") as status:
        looks = Retrying(
            retry=retry_if_result(lambda run: run["state"] not in ended),
            wait=wait_exponential(SOONEST, LATEST, min=SOONEST),
            before_sleep=partial(_show, status, lookout),
        )
        try:
            run: dict[str, Any] = looks(api.get, f"/v1/runs/{run_id}")
        except KeyboardInterrupt:
            complain(f"the run goes on: headway runs show {run_id}")
            raise
    return run


def conclude(output: Output, api: "Api", run: dict[str, Any]) -> None:
    """Print the result of a run that has ended.  Exits with 1 unless it succeeded."""
    result = api.get(f"/v1/runs/{run['id']}/content")["result"]
    if output.json:
        output.document({**run, "result": result})
    elif result is not None:
        typer.echo(printed(result))
    if run["state"] != SUCCEEDED:
        complain(ending(run))
        raise typer.Exit(NO)


def printed(result: Any) -> str:
    """Return a result as a person reads it; what a handler returned that was no mapping stands under `value`."""
    value = result["value"] if isinstance(result, dict) and result.keys() == {"value"} else result
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)


def ending(run: dict[str, Any]) -> str:
    """Return how a run that did not succeed ended, and where to read more."""
    error = run["error"]
    why = f"{error['kind']}: {error['message']}" if error else run["reason"]
    attempts = f" after {run['attempt']} attempt{'' if run['attempt'] == 1 else 's'}" if run["attempt"] else ""
    return f"run {run['state']}{attempts}{f', {why}' if why else ''}; headway runs show {run['id']}"


def _show(status: "Status | None", lookout: "Lookout", look: "RetryCallState") -> None:
    """Show how far the run is, and say what it lacks."""
    assert look.outcome is not None, "there is one before each sleep"
    run = look.outcome.result()
    if told := lookout.look(run, look.seconds_since_start or 0.0):
        complain(told)
    if status is not None:
        progress = run["progress"]
        status.update(f"{run['id']} {run['display']}" + (f" {progress['percent']} % {progress['message']}" if progress else ""))
