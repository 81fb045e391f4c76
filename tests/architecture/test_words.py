"""What names, comments and docstrings may say."""

import ast
import re

import pytest

from tests.architecture.source import PRODUCT, ROOT, sources

BANNED = {"utils", "helpers", "common", "base", "manager", "service", "types", "v1"}
NO_REASON = re.compile(r"#\s*(noqa(:\s*[A-Z0-9, ]+)?|type:\s*ignore(\[[a-z\-, ]+\])?)\s*$")
NO_CODE = re.compile(r"#\s*(noqa(?!:)|type:\s*ignore(?!\[))")
TODO = re.compile(r"\b(TODO|FIXME|XXX)\b(?!.*#\d+)")
BANNER = re.compile(r"#\s*([-=#*~])\1{3,}")


def test_a_module_is_named_for_what_it_holds() -> None:
    """No module or package has one of the names that say nothing."""
    assert not [str(source) for source in sources(PRODUCT) if BANNED & set(source.path.relative_to(ROOT).with_suffix("").parts)]


@pytest.mark.parametrize("fault", [NO_REASON, NO_CODE, TODO, BANNER], ids=["reason", "rule", "issue", "banner"])
def test_comments_are_for_readers(fault: re.Pattern[str]) -> None:
    """A silenced rule is named and says why; a TODO names its issue; nothing is a banner."""
    found = [f"{source}:{line} {comment}" for source in sources() for line, comment in source.comments if fault.search(comment)]
    assert not found


def test_a_module_says_what_it_is() -> None:
    """Every module with code in it begins with a docstring, and so does every public class."""
    silent = [str(source) for source in sources(PRODUCT) if source.tree.body and not ast.get_docstring(source.tree)]
    for source in sources(PRODUCT):
        public = [node for node in source.tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
        silent += [f"{source.at(node)} {node.name}" for node in public if not ast.get_docstring(node)]
    assert not silent
