"""`headway schedules`: which schedule a name means, and what the list says of each."""

from headway.cli.naming import splits
from tests.cli.served import Served

EVERY_HOUR = ("--every", "1h")


async def make(platform: Served, definition: str, *names: str) -> None:
    """A definition with schedules that fire every hour."""
    await platform.ledger.scene.define(definition)
    for name in names:
        created = await platform.headway("schedules", "create", definition, name, *EVERY_HOUR)
        assert created.exit_code == 0, created.output


async def test_names_may_hold_slashes(platform: Served) -> None:
    """DEFINITION/NAME finds a schedule wherever the slashes stand; the longest definition that has such a schedule is meant."""
    await make(platform, "any", "1_any@Europe/Berlin", "b/c")
    await make(platform, "any/b", "c")
    assert (await platform.said("schedules", "show", "any/1_any@Europe/Berlin"))["name"] == "1_any@Europe/Berlin"
    shown = await platform.said("schedules", "show", "any/b/c")
    assert (shown["definition"], shown["name"]) == ("any/b", "c")
    missing = await platform.headway("schedules", "show", "any/b/d")
    assert (missing.exit_code, missing.stderr) == (2, "headway: schedule: there is no 'any/b/d'; headway schedules list shows all\n")


def test_every_reading_is_tried() -> None:
    """No reading has an empty part, and what has no slash is an id."""
    assert list(splits("a/b/c")) == [("a/b", "c"), ("a", "b/c")]
    assert list(splits("a")) == list(splits("/a")) == list(splits("a/")) == []


async def test_the_list_shows_what_is_paused(platform: Served) -> None:
    """A paused schedule says yes and by whom; one that is not says nothing."""
    await make(platform, "job", "one", "two")
    await platform.headway("schedules", "pause", "job/two", "--reason", "stocktaking")
    table = (await platform.headway("schedules", "list")).stdout.splitlines()
    at = table[0].index("paused")
    assert [line[at : at + 4].strip().rstrip(",") for line in table[1:]] == ["", "yes"]
    assert "yes, by" in table[2]
