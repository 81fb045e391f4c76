"""What must hold when the faults have stopped, and the five figures of a scenario."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from tests.system.fleet import Fleet


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a scenario; `repeated` is the fraction of starts that were not the first of their run."""

    lost: int
    duplicated: int
    unexpected: int
    recovered: int
    ok: int
    repeated: float


async def judge(fleet: Fleet, accepted: set[str]) -> Verdict:
    """Hold what was accepted against what finished and what handlers noted."""
    done = Counter(str(row["id"]) for row in await fleet.rows("SELECT id FROM headway.run_done WHERE definition <> 'tick'"))
    starts = [start for start in fleet.starts() if start["run"] in accepted]
    attempts = Counter(str(start["run"]) for start in starts)
    fences = Counter((start["run"], start["attempt"]) for start in starts)
    return Verdict(
        lost=len(accepted - done.keys()),
        duplicated=sum(count - 1 for count in done.values()) + sum(count - 1 for count in fences.values()),
        unexpected=len(done.keys() - accepted),
        recovered=await _count(fleet, "SELECT count(*) FROM headway.run_done WHERE crashes > 0 AND definition <> 'tick'"),
        ok=await _count(fleet, "SELECT count(*) FROM headway.run_done WHERE state = 4 AND definition <> 'tick'"),
        repeated=(len(starts) - len(attempts)) / max(1, len(starts)),
    )


async def _count(fleet: Fleet, sql: str) -> int:
    found: Any = await fleet.value(sql)
    return int(found)
