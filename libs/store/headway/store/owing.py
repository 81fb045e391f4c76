"""What an attempt's end owes: recorded as reactions by the statement, or in the transaction, that settles it."""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from sqlalchemy import CTE, ColumnElement, Integer, Uuid, and_, case, column, exists, func, literal_column, or_, select
from sqlalchemy.dialects.postgresql import Insert, insert

from headway.core.ask import QUIET
from headway.store import watched
from headway.store.reactions import Kind
from headway.store.schema import attempt, breaker, definition, reaction
from headway.store.statement import INSTANT, const, given, now, param, statement
from headway.store.tx import Tx

_KINDS: Final = max(Kind)
_EVERY: Final = (1 << (_KINDS + 1)) - 1


_alerts_after: Final = watched.whole("alert_after")
_trips_after: Final = watched.whole("breaker_threshold")
# Whoever counts failures in a row has to hear of the success that ends them.
_expects: Final = or_(watched.span("expected_duration").is_not(None), watched.span("must_start_by").is_not(None))
_counts: Final = or_(_trips_after > const(0), _alerts_after > const(1))


def owing(gone: CTE, names: Sequence[str]) -> CTE:
    """Return these columns of runs that have ended, `owes` being what each brought along and what its definition owes for every end.

    A definition owes triggers to whoever has some, to its breaker the news of an end while failures stand, and a look at what was
    expected of the run where anything is.
    """
    named = definition.c.id == func.any(func.array(select(gone.c.definition_id).distinct().scalar_subquery()))
    standing = case((exists().where(breaker.c.definition == definition.c.id), const(1 << Kind.BREAKER)), else_=const(0))
    expecting = case((_expects, const(1 << Kind.ALERT)), else_=const(0))
    known = select(definition.c.id, definition.c.owes.op("|")(standing).op("|")(expecting).label("owes")).where(named).cte("known")
    quiet = gone.c.owes.op("&")(const(QUIET)) != const(0)
    asked = case((quiet, known.c.owes.op("&")(const(_EVERY & ~(1 << Kind.TRIGGER)))), else_=known.c.owes)
    owes = gone.c.owes.op("&")(const(_EVERY)).op("|")(func.coalesce(asked, const(0)))
    columns = [owes.label("owes") if name == "owes" else gone.c[name] for name in names]
    return select(*columns).outerjoin_from(gone, known, known.c.id == gone.c.definition_id).cte("ended")


def recorded(ended: CTE) -> CTE:
    """Return the insertion of a reaction for every bit of `owes`."""
    bits = func.generate_series(const(0), const(_KINDS)).table_valued(column("bit", Integer)).render_derived(name="bits")
    stands = ended.c.owes.op("&")(const(1).op("<<")(bits.c.bit)) != const(0)
    batch = case((bits.c.bit == const(Kind.BATCH), ended.c.parent))
    return _afresh(select(ended.c.id, bits.c.bit, now(), batch).where(ended.c.owes != const(0), stands), "batch").cte("owed")


def _afresh(rows: Any, *more: str) -> Insert:
    """A reaction that stands already, which somebody may be about to do and delete, is owed anew."""
    made = insert(reaction).from_select(["run", "kind", "next_look_at", *more], rows)
    return made.on_conflict_do_update(
        index_elements=["run", "kind"],
        set_={"next_look_at": made.excluded.next_look_at, "tries": const(0), "parked": literal_column("false")},
    )


_f = given("f", run=Uuid, definition=Uuid).c
_watched = (
    select(
        _f.run,
        definition.c.id.label("definition"),
        definition.c.created_at,
        _counts.label("counts"),
        (_alerts_after > const(0)).label("alerts"),
    )
    .where(definition.c.id == _f.definition)
    .cte("watched")
)
_counting = select(_watched.c.definition, _watched.c.created_at).where(_watched.c.counts).distinct().subquery("counting")
# Without a row no failure stands: every earlier one came before some success.
_earlier = (
    select(func.max(attempt.c.ended_at))
    .where(attempt.c.definition_id == _counting.c.definition, attempt.c.ended_at < param("at", INSTANT))
    .scalar_subquery()
)
_standing = (
    insert(breaker)
    .from_select(
        ["definition", "state", "since"],
        select(_counting.c.definition, const(0), func.coalesce(_earlier, _counting.c.created_at)).order_by(_counting.c.definition),
    )
    .on_conflict_do_nothing()
    .cte("standing")
)
_both: ColumnElement[list[int]] = literal_column(f"ARRAY[{Kind.BREAKER:d}, {Kind.ALERT:d}]")
_kinds = func.unnest(_both).table_valued(column("kind", Integer)).render_derived(name="kinds")
_hears = or_(
    and_(_kinds.c.kind == const(Kind.BREAKER), _watched.c.counts),
    and_(_kinds.c.kind == const(Kind.ALERT), _watched.c.alerts),
)
OWE_FAILURES: Final = statement(
    "owing_failures",
    _afresh(select(_watched.c.run, _kinds.c.kind, param("at", INSTANT)).where(_hears).order_by(_watched.c.run, _kinds.c.kind))
    .returning(reaction.c.run, reaction.c.kind)
    .add_cte(_standing),
)


async def owe_failures(tx: Tx, failed: Sequence[tuple[UUID, UUID]]) -> dict[UUID, int]:
    """Record what failed attempts of (run, definition) owe to alerts and breakers, whether their runs go on or not.

    Returns the bits that each run owes more.
    """
    owed: dict[UUID, int] = {}
    if failed:
        runs, definitions = zip(*failed, strict=True)
        for row in await tx.fetch(OWE_FAILURES, run=runs, definition=definitions, at=tx.now):
            owed[row["run"]] = owed.get(row["run"], 0) | 1 << row["kind"]
    return owed
