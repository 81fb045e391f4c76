"""The reaction to the end of a run whose definition has triggers: runs of their targets, once, however often it is done."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import Uuid, select

from headway.core.ask import Ask, Origin, problems_of
from headway.core.condition import read_condition
from headway.core.errors import Conflict, HeadwayError, Invalid
from headway.core.outcome import RunOutcome
from headway.core.parameters import merged
from headway.core.run import State
from headway.core.trigger import DEEPEST_CHAIN, Firing, facts_of_firing, fires
from headway.store import audit, runs
from headway.store.accept import Answer, accept
from headway.store.enqueue import Accepted
from headway.store.gates import Placed
from headway.store.last_facts import facts_of
from headway.store.reactions import Doing, Owed
from headway.store.schema import definition, trigger
from headway.store.slot_inputs import Worded, worded
from headway.store.statement import param, statement
from headway.store.tx import Row, Tx

ACTOR: Final = "scheduler"
REPEATED: Final = frozenset({"key_reused", "key_spent"})  # it was done before, with other words or so long ago that the run is gone
_source, _target = definition.alias("source"), definition.alias("target")
OF_ENDED: Final = statement(
    "triggering_of_ended",
    select(
        trigger.c.id,
        trigger.c.tenant,
        trigger.c.name,
        trigger.c.condition,
        trigger.c.parameters,
        _target.c.name.label("target"),
        _target.c.parameters.label("defaults"),
        _target.c.parameter_spec.label("spec"),
    )
    .select_from(trigger.join(_source, _source.c.id == trigger.c.source).join(_target, _target.c.id == trigger.c.target))
    .where(trigger.c.source == param("of", Uuid), trigger.c.enabled, _source.c.enabled, _source.c.allow_triggers)
    .order_by(trigger.c.id),
)


class Fired(NamedTuple):
    """What the end of a run of a definition came to: the runs that are new, and by trigger what was refused or kept as written, and why."""

    run: UUID
    definition: str
    runs: list[Accepted]
    refused: dict[str, str]
    faults: dict[str, list[str]]


def triggering(done: Callable[[Fired], None]) -> Doing:
    """Return the reaction for `reactions.work_off`; `done` hears what each end fired."""

    async def do(tx: Tx, owed: Owed) -> list[Placed]:
        fired = await fire(tx, owed.run)
        if fired is None:
            return []
        done(fired)
        return [Placed(one.id, one.state, one.queue, one.priority) for one in fired.runs if one.state is State.QUEUED]

    return do


async def fire(tx: Tx, run_id: UUID) -> Fired | None:
    """Ask for the runs that the end of a run triggers, by keys that make repetitions the same runs; None when it triggers nothing.

    A trigger whose target takes no run, or which has too many triggers before it, fires in vain: the trail has why, and the others fire.
    """
    ended = await runs.get(tx, run_id, None)
    if ended is None or ended["outcome"] is None:
        return None
    met = [row for row in await tx.fetch(OF_ENDED, of=ended["definition_id"]) if _fires(row, ended)]
    if not met:
        return None
    known = facts_of({**ended, "params": await runs.params_text(tx, ended)}) | {"Definition": ended["definition"]}
    inputs = [_input(row, ended, known, tx.now) for row in met]
    answers = await _answers(tx, [_ask(row, ended, one.text) for row, one in zip(met, inputs, strict=True)])
    refused = [(row, str(one)) for row, one in zip(met, answers, strict=True) if isinstance(one, HeadwayError) and one.code not in REPEATED]
    for row, why in refused:
        await audit.write(tx, audit.Entry(ACTOR, "trigger.refused", f"trigger:{row['id']}", row["tenant"], why, new={"run": str(run_id)}))
    return Fired(
        run_id,
        ended["definition"],
        [one for one in answers if isinstance(one, Accepted) and not one.existing],
        {row["name"]: why for row, why in refused},
        {row["name"]: one.faults for row, one in zip(met, inputs, strict=True) if one.faults},
    )


def _fires(row: Row, ended: Row) -> bool:
    condition = None if row["condition"] is None else read_condition(row["condition"])
    result = None if ended["result"] is None else orjson.loads(ended["result"])
    return fires(condition, RunOutcome(ended["outcome"]), result)


def _input(row: Row, ended: Row, known: Mapping[str, Any], now: datetime) -> Worded:
    firing = Firing(row["id"], row["name"], row["target"], ended["id"])
    return worded(merged(row["defaults"], row["parameters"]), row["spec"], lambda: facts_of_firing(firing, known, now))


def _ask(row: Row, ended: Row, params: str | None) -> Ask:
    return Ask(
        row["target"],
        tenant=ended["tenant"],
        definition_tenant=row["tenant"],
        params=params,
        key=f"trigger:{row['id']}:{ended['id']}",
        correlation=ended["correlation"],
        created_by=f"trigger:{row['name']}",
        origin=Origin.TRIGGER,
        parent=ended["id"],
        depth=ended["depth"] + 1,
    )


async def _answers(tx: Tx, asks: Sequence[Ask]) -> list[Answer]:
    """Answer each ask in its place; whatever is wrong with one is no other's fault."""
    refused: dict[int, HeadwayError] = {}
    for number, ask in enumerate(asks):
        if ask.depth > DEEPEST_CHAIN:
            refused[number] = Conflict(f"depth: there are {DEEPEST_CHAIN} triggers behind its run already", code="trigger_too_deep")
        elif problems := problems_of(ask):
            refused[number] = Invalid(problems)
    accepted = iter(await accept(tx, [ask for number, ask in enumerate(asks) if number not in refused]))
    return [refused[number] if number in refused else next(accepted) for number in range(len(asks))]
