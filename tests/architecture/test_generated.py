"""What is generated from the code is committed as it is generated."""

from tests.architecture.generated import generated, stale
from tests.architecture.source import ROOT


def test_nothing_generated_has_drifted() -> None:
    """Contracts, rendered statements, the state diagram and the pages say what the code says; `make contracts` repairs it."""
    files = generated()
    missing = [path for path in files if not (ROOT / path).exists()]
    drifted = [path for path, text in files.items() if path not in missing and (ROOT / path).read_text(encoding="utf-8") != text]
    assert not [*missing, *drifted, *stale(files)], "run `make contracts` and commit what it wrote"
