"""What the client reads: the probes of all worker processes, and the processes themselves."""

import os
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

from probe import SLOT

TICK = os.sysconf("SC_CLK_TCK")


class Process(NamedTuple):
    """One row of /proc: CPU in seconds, memory in bytes."""

    parent: int
    name: str
    cpu: float
    rss: int


class Board:
    """A folder that the probes write to."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="bench-"))

    def slots(self) -> list[tuple[int, float, float]]:
        """Count, first and last hit of each worker process that executed something."""
        data = [path.read_bytes() for path in self.folder.glob("*.slot")]
        slots = [SLOT.unpack(raw) for raw in data if len(raw) == SLOT.size]
        return [slot for slot in slots if slot[0]]

    def done(self) -> int:
        """Jobs executed so far."""
        return sum(slot[0] for slot in self.slots())

    def latencies(self) -> list[float]:
        """Pickup latencies in seconds, sorted."""
        return sorted(float(line) for path in self.folder.glob("*.lat") for line in path.read_text().split())

    def forget_latencies(self) -> None:
        """Begin anew after the warm-up."""
        for path in self.folder.glob("*.lat"):
            os.truncate(path, 0)

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)


def processes() -> dict[int, Process]:
    """Every process of the machine, by id."""
    entries = [path.name for path in Path("/proc").iterdir() if path.name.isdigit()]
    return {int(entry): row for entry in entries if (row := _process(entry))}


def _process(entry: str) -> Process | None:
    try:
        stat = Path("/proc", entry, "stat").read_text()
    except OSError:
        return None
    name = stat[stat.index("(") + 1 : stat.rindex(")")]
    field = stat[stat.rindex(")") + 2 :].split()
    return Process(int(field[1]), name, (int(field[11]) + int(field[12])) / TICK, int(field[21]) * 4096)


def tree(root: int, table: dict[int, Process]) -> set[int]:
    """A process and all its descendants."""
    found, size = {root}, 0
    while len(found) > size:
        size = len(found)
        found |= {pid for pid, row in table.items() if row.parent in found}
    return found & table.keys()


def cpu_by_group(roots: list[int]) -> dict[str, float]:
    """CPU seconds so far of the workers, PostgreSQL and RabbitMQ."""
    table = processes()
    ours = set().union(*(tree(root, table) for root in roots)) if roots else set()
    group = dict.fromkeys(("worker", "postgres", "rabbitmq"), 0.0)
    names = {"postgres": "postgres", "beam.smp": "rabbitmq"}
    for pid, row in table.items():
        key = "worker" if pid in ours else names.get(row.name)
        if key:
            group[key] += row.cpu
    return group
