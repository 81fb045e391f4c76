"""Sessions: the processes that work, and how long each is still believed."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel

from headway.api.edge import Route
from headway.api.platform import Here, Who
from headway.store import sessions
from headway.store.sessions import SessionState
from headway.store.tx import Row

router = APIRouter(prefix="/v1", tags=["sessions"], route_class=Route)


class Session(BaseModel):
    """One process life of a service; one that is not stopped and has lapsed is taken for dead."""

    id: UUID
    kind: str
    host: str
    pid: int
    state: Literal["running", "draining", "stopped"]
    lapsed: bool
    started_at: datetime
    lease_until: datetime
    queues: list[str]
    handlers: list[str]
    capacity: int
    in_flight: int
    version: str

    @classmethod
    def of(cls, row: Row) -> "Session":
        """Show a row of `headway.store.sessions`."""
        state = SessionState(row["state"])
        lapsed = state is not SessionState.STOPPED and row["lease_until"] <= row["now"]
        return cls.model_validate({**row, "state": state.name.lower(), "lapsed": lapsed})


class Sessions(BaseModel):
    """Every session that is still listed, by kind and start."""

    items: list[Session]


@router.get("/sessions")
async def list_sessions(here: Here, who: Who) -> Sessions:
    """List the sessions."""
    async with here.database.once() as tx:
        return Sessions(items=[Session.of(row) for row in await sessions.listed(tx)])
