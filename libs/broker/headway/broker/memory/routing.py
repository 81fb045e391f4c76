"""Which queues an exchange hands a message to, as RabbitMQ does it.  Pure."""

from collections.abc import Sequence

from headway.messages.channels import Kind


def matches(kind: Kind, binding: str, key: str) -> bool:
    """Say whether an exchange of this kind hands what carries `key` to a queue bound by `binding`."""
    match kind:
        case "fanout":
            return True
        case "direct":
            return binding == key
        case "topic":
            return _matches(binding.split("."), key.split("."))


def _matches(pattern: Sequence[str], words: Sequence[str]) -> bool:
    """Match words against a pattern in which `*` is one word and `#` any number of them."""
    if not pattern:
        return not words
    first, rest = pattern[0], pattern[1:]
    if first == "#":
        return any(_matches(rest, words[skipped:]) for skipped in range(len(words) + 1))
    return bool(words) and first in ("*", words[0]) and _matches(rest, words[1:])
