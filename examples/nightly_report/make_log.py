"""Write the access log that ships with this example: made up, but shaped like a small web shop's week.  Always the same bytes."""

import random
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

SEED, DAYS, A_DAY = 20260302, 7, 520
BEGIN = datetime(2026, 3, 2, tzinfo=UTC)
BY_HOUR = (3, 2, 1, 1, 1, 2, 5, 11, 18, 24, 27, 26, 23, 24, 26, 25, 23, 22, 25, 30, 34, 29, 18, 8)
PAGES = {"/": 40, "/search": 22, "/cart": 12, "/checkout": 5, "/account": 6, "/help/returns": 3, "/robots.txt": 2, "/health": 4}
PRODUCTS = ("kettle", "teapot", "cup", "strainer", "tray", "tin", "caddy", "whisk", "scale", "lamp", "stool", "rug")
PROBES = ("/wp-login.php", "/.env", "/admin", "/old/catalogue.html", "/favicon.ico")
TERMS = ("green+tea", "kettle", "gift", "cast+iron", "saucer")
AGENTS = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/145.0 Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 19_3 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.3 Safari/604.1",
    "Mozilla/5.0 (X11; Linux x86_64; rv:147.0) Gecko/20100101 Firefox/147.0",
)
ROBOTS = ("ExampleBot/2.1 (+https://bot.example/)", "PriceBot/0.9 (+https://prices.example/bot)")


def rows(chance: random.Random) -> Iterator[str]:
    """Yield the lines of the week, in the order of time."""
    clients = [f"{net}.{chance.randrange(1, 255)}" for net in ("192.0.2", "198.51.100", "203.0.113") for _ in range(60)]
    for day in range(DAYS):
        weekend = (BEGIN + timedelta(days=day)).weekday() >= 5
        for at in sorted(_moment(chance, day) for _ in range(int(A_DAY * (1.3 if weekend else 1)))):
            yield _row(chance, at, chance.choice(clients))


def _moment(chance: random.Random, day: int) -> datetime:
    hour = chance.choices(range(24), BY_HOUR)[0]
    return BEGIN + timedelta(days=day, hours=hour, seconds=chance.randrange(3600))


def _row(chance: random.Random, at: datetime, client: str) -> str:
    robot = chance.random() < 0.14
    method, path, status, size = _request(chance, robot)
    agent = chance.choice(ROBOTS if robot else AGENTS)
    referer = "-" if robot or chance.random() < 0.4 else "https://shop.example/"
    return f'{client} - - [{at:%d/%b/%Y:%H:%M:%S %z}] "{method} {path} HTTP/1.1" {status} {size or "-"} "{referer}" "{agent}"'


def _request(chance: random.Random, robot: bool) -> tuple[str, str, int, int]:
    if chance.random() < (0.12 if robot else 0.015):
        return "GET", chance.choice(PROBES), 404, 512
    if chance.random() < 0.45:
        return "GET", f"/product/{chance.choices(PRODUCTS, range(len(PRODUCTS), 0, -1))[0]}", 200, chance.randrange(9_000, 42_000)
    path = chance.choices([*PAGES], [*PAGES.values()])[0]
    if path == "/checkout":
        return ("POST", path, 503, 320) if chance.random() < 0.06 else ("POST", path, 303, 0)
    if path == "/search":
        return "GET", f"/search?q={chance.choice(TERMS)}", 200, chance.randrange(6_000, 18_000)
    return ("GET", path, 304, 0) if chance.random() < 0.1 else ("GET", path, 200, chance.randrange(400, 24_000))


def main() -> None:
    """Print the log."""
    sys.stdout.writelines(f"{row}\n" for row in rows(random.Random(SEED)))  # noqa: S311 - made-up data, no secret


if __name__ == "__main__":
    main()
