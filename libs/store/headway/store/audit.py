"""Who changed what, and why: append-only."""

from dataclasses import asdict, dataclass
from typing import Any, Final

from sqlalchemy import Text, insert
from sqlalchemy.dialects.postgresql import JSONB

from headway.store.schema import audit
from headway.store.statement import now, param, statement
from headway.store.tx import Tx

WRITE: Final = statement(
    "audit_write",
    insert(audit).values(
        at=now(),
        tenant=param("tenant", Text),
        actor=param("actor", Text),
        action=param("action", Text),
        subject=param("subject", Text),
        reason=param("reason", Text),
        old=param("old", JSONB),
        new=param("new", JSONB),
    ),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the trail: actor, action such as `run.cancel`, subject such as `run:<id>`, and what changed."""

    actor: str
    action: str
    subject: str
    tenant: str = ""
    reason: str = ""
    old: Any = None
    new: Any = None


async def write(tx: Tx, entry: Entry) -> None:
    """Append one entry, at the database's instant."""
    await tx.execute(WRITE, **asdict(entry))
