"""The application that the benchmark's workers run."""

from pydantic import BaseModel

from headway.sdk import Headway
from probe import probe

app = Headway()


class Noop(BaseModel):
    """When the job was enqueued; 0 when nobody asks."""

    sent: float = 0.0


@app.job(name="noop")
async def noop(params: Noop) -> None:
    """Do nothing but be counted."""
    probe.hit(params.sent)
