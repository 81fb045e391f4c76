"""The doctor: every invariant, checked now."""

from fastapi import APIRouter
from pydantic import BaseModel

from headway.api.edge import Route
from headway.api.platform import Here, Who
from headway.store import doctor

router = APIRouter(prefix="/v1", tags=["doctor"], route_class=Route)


class Finding(BaseModel):
    """One invariant: what it promises, whether it holds, how often it does not, and a few examples of that."""

    name: str
    promise: str
    ok: bool
    broken: int
    examples: list[str]


class Findings(BaseModel):
    """Every invariant; `ok` when all of them hold."""

    ok: bool
    findings: list[Finding]


@router.get("/doctor")
async def examine(here: Here, who: Who) -> Findings:
    """Check every invariant."""
    async with here.database.begin() as tx:
        found = [Finding.model_validate(one, from_attributes=True) for one in await doctor.examine(tx)]
    return Findings(ok=all(one.ok for one in found), findings=found)
