"""Variables that look like ours and set nothing: a misspelt one is refused, any other is told of."""

import os
import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final, NamedTuple

from headway.core.errors import Problem
from headway.runtime.settings.sources import FILE, NESTED, PREFIX, Origin, env_name, group_of, is_secret, knobs, settings_classes

MISSPELT: Final = 0.9  # how much of a name must agree; another name of the same family agrees less
ALIKE: Final = 0.6
# What Kubernetes sets for each service of a namespace, in the name of the service.
_LINK: Final = re.compile(r"_SERVICE_HOST|_SERVICE_PORT(_\w+)?|_PORT_\d+_(TCP|UDP|SCTP)(_PROTO|_PORT|_ADDR)?")
_LINK_VALUE: Final = re.compile(r"(tcp|udp|sctp)://")


class Stranger(NamedTuple):
    """A variable that no knob stands for, and the knob that is most like it, empty for none."""

    name: str
    nearest: str


def strangers() -> list[Stranger]:
    """Return the variables of the environment that no process of ours reads; what Kubernetes sets is left out."""
    known, groups = _known_names(), _groups()
    unknown = sorted(name for name in _ours() if name not in known and not name.startswith(groups))
    return [Stranger(name, _nearest(name, known, ALIKE)) for name in unknown]


def misspelt() -> list[Problem]:
    """Return a problem for each variable that is almost the name of a knob: ignoring it in silence is worse than not to start."""
    found = [(one.name, _nearest(one.name, {one.nearest}, MISSPELT)) for one in strangers()]
    return [Problem(name, f"there is no such knob: did you mean {meant}?") for name, meant in found if meant]


def _ours() -> Iterator[str]:
    for name, value in os.environ.items():
        link = _LINK.search(name) or _LINK_VALUE.match(value)
        if name.upper().startswith(PREFIX) and value and not link:
            yield name.upper()


def _known_names() -> set[str]:
    known = {path: field for settings in settings_classes(Origin) for path, field in knobs(settings)}
    return {env_name(path) for path in known} | {env_name(path) + FILE.upper() for path, field in known.items() if is_secret(field)}


def _groups() -> tuple[str, ...]:
    """What the names of grouped knobs begin with: the process that has the group says which of them are wrong."""
    fields = [item for settings in settings_classes(Origin) for item in settings.model_fields.items()]
    return tuple({env_name((name,)) + NESTED for name, field in fields if group_of(field)})


def _nearest(name: str, known: set[str], cutoff: float) -> str:
    tails = [one.removeprefix(PREFIX) for one in sorted(known)]
    found = get_close_matches(name.removeprefix(PREFIX), tails, n=1, cutoff=cutoff)
    return PREFIX + found[0] if found and found[0] else ""
