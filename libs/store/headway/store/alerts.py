"""Alerts: one row for each event that somebody has to hear of, however often it is reported."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Text, Uuid, select
from sqlalchemy.dialects.postgresql import insert

from headway.core.alert import Alert
from headway.core.ids import make_ids
from headway.core.safe import MESSAGE_LIMIT, safe_text
from headway.store.schema import alert
from headway.store.statement import INSTANT, given, param, statement
from headway.store.tx import Tx

_a = given("a", id=Uuid, tenant=Text, kind=Text, subject=Text, definition=Text, run=Uuid, message=Text, dedupe_key=Text).c
RAISE: Final = statement(
    "alert_raise",
    insert(alert)
    .from_select(
        [*[column.name for column in _a], "at", "next_look_at"],
        select(*_a, param("at", INSTANT), param("at", INSTANT)).order_by(_a.dedupe_key),
    )
    .on_conflict_do_nothing(index_elements=["dedupe_key"]),
)


async def raise_alerts(tx: Tx, alerts: Sequence[Alert]) -> int:
    """Record alerts, each to be delivered by maintenance, and say how many are new; one that is known by its key changes nothing."""
    if not alerts:
        return 0
    return await tx.execute(
        RAISE,
        id=make_ids(tx.now, len(alerts)),
        tenant=[one.tenant for one in alerts],
        kind=[one.kind.value for one in alerts],
        subject=[one.subject for one in alerts],
        definition=[one.definition for one in alerts],
        run=[one.run for one in alerts],
        message=[safe_text(one.message, MESSAGE_LIMIT) for one in alerts],
        dedupe_key=[one.dedupe_key for one in alerts],
        at=tx.now,
    )
