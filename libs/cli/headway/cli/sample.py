"""What `headway up` runs where nobody names an application: one job that greets, asked for by a schedule and by hand."""

from datetime import timedelta

from pydantic import BaseModel

from headway.sdk import Headway, every

app = Headway(name="sample")


class Greeting(BaseModel):
    """Who is greeted."""

    name: str = "world"


@app.job(schedule=every(timedelta(seconds=5)), owner="you")
async def hello(greeting: Greeting) -> str:
    """Greet somebody: `headway run hello -p name=Ada --wait`."""
    return f"Hello, {greeting.name}!"
