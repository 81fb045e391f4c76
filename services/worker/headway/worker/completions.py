"""The completions that a settled batch is told of: which runs ended, and what they owe."""

from typing import Final

from headway.broker import hints
from headway.broker.port import Letter
from headway.core.run import FINAL, State
from headway.messages import CompletedRun
from headway.store.reactions import Kind
from headway.store.settle import Settled
from headway.worker.settling import Concluded

NAMES: Final = {State.SUCCEEDED: "succeeded", State.FAILED: "failed", State.CANCELLED: "cancelled", State.SKIPPED: "skipped"}


def completions(concluded: Concluded, *, publish_all: bool) -> list[Letter]:
    """Return the letters for runs that ended and owe something, or for all that ended."""
    ended = [run for run in concluded.settled if run.state in FINAL and (publish_all or run.owes)]
    return hints.completed([_completed(run, concluded) for run in ended], at=concluded.at, publish_all=publish_all) if ended else []


def _completed(run: Settled, concluded: Concluded) -> CompletedRun:
    return CompletedRun(
        id=run.id,
        definition=run.definition,
        state=NAMES[State(run.state)],
        outcome=concluded.outcomes[run.id].name.lower(),
        attempt=run.attempt,
        finished_at=concluded.at,
        reactions=tuple(kind.name.lower() for kind in Kind if run.owes & (1 << kind)),
    )
