"""Rules for the product's SQL statements that hold for every plan of PostgreSQL."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tools.local import ROOT

PRODUCT = ("config", "agency", "workspaces", "webhooks", "packs", "channelconnect", "broadcasts")
BEGINNING = re.compile(r"\bIN\s*\(\s*SELECT\b", re.IGNORECASE)
LOCKING = "UPDATE"
LOCKS = re.compile(r"\bFOR\s+(?:NO\s+KEY\s+)?UPDATE\b", re.IGNORECASE)
CHANGES_BY_PLACE = re.compile(r"\bWHERE\s+(?:\w+\.)?ctid\b", re.IGNORECASE)
# Statements that may change rows by their places, and why they miss no row in the end.
MAY_CHANGE_BY_PLACE = {
    "UPDATE broadcasts_recipient SET stage = 1": "an earlier statement of its transaction has locked them",
    "UPDATE broadcasts_recipient recipient SET stage = 3": "an earlier statement of its transaction has locked them",
    "WITH news AS MATERIALIZED": "it is executed until no row is missed, at last with the rows locked",
    " WHERE ctid = ANY (%s::tid[])": "an erasure looks for what is left, several times",
}


def statements() -> Iterator[tuple[str, str]]:
    """Give every file that may lock rows with each of its texts; for f-strings the constant parts."""
    for path in (path for name in PRODUCT for path in Path(ROOT, name).rglob("*.py")):
        code = path.read_text()
        for node in ast.walk(ast.parse(code)) if LOCKING in code.upper() else ():
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield str(path.relative_to(ROOT)), node.value


def lists_that_are_found_anew(text: str) -> list[str]:
    """Find lists after IN that select and lock a limited number of rows.

    PostgreSQL may execute such a list again for each row that it compares. Each execution sees newer changes and may
    give other rows. Together these are more than the LIMIT. `ctid = ANY (ARRAY (SELECT …))` is executed once.
    """
    found = []
    for match in BEGINNING.finditer(text):
        depth, start = 0, text.index("(", match.start())
        for end in range(start, len(text)):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            if not depth:
                break
        inner = text[start:end]
        if "LIMIT" in inner.upper() and LOCKS.search(inner):
            found.append(inner)
    return found


def changes_by_place(texts: Iterable[str]) -> list[str]:
    """Find statements that change rows by their places.

    A row that was changed since the statement began has a new place, and the statement misses it. This happens even if
    the statement has found and locked the row, because it does not see the row's new place.
    """
    return [text.strip("\n") for text in texts if CHANGES_BY_PLACE.search(text)]


def test_rows_are_changed_by_their_keys_unless_none_can_be_passed_over() -> None:
    found = changes_by_place(text for _, text in statements())
    assert [one for one in found if not one.startswith(tuple(MAY_CHANGE_BY_PLACE))] == []
    assert len(found) == len(MAY_CHANGE_BY_PLACE)


@pytest.mark.parametrize(
    ("statement", "is_found"),
    [
        ("UPDATE a SET b = 1 WHERE ctid = ANY (ARRAY (SELECT ctid FROM a LIMIT 5 FOR UPDATE))", True),
        ("WITH x AS (SELECT ctid AS place FROM a FOR UPDATE) DELETE FROM a USING x\nWHERE a.ctid = x.place", True),
        ("WITH x AS (SELECT id FROM a FOR UPDATE) UPDATE a SET b = 1 FROM x WHERE a.id = x.id", False),
        ("SELECT ctid FROM a FOR UPDATE", False),
    ],
)
def test_an_update_by_ctid_is_found(statement: str, is_found: bool) -> None:
    assert bool(changes_by_place([statement])) is is_found


def test_no_list_of_some_rows_is_found_anew_for_each_row() -> None:
    texts = list(statements())
    assert len(texts) > 1_000
    assert [(path, one) for path, text in texts for one in lists_that_are_found_anew(text)] == []


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        ("UPDATE a SET b = 1 WHERE id IN (\n SELECT id FROM a WHERE (b) LIMIT 5 FOR NO KEY UPDATE SKIP LOCKED)", 1),
        ("DELETE FROM a WHERE (x, y) in (select x, y FROM a ORDER BY x LIMIT %s for update)", 1),
        ("UPDATE a SET b = 1 WHERE ctid = ANY (ARRAY (SELECT ctid FROM a LIMIT 5 FOR UPDATE))", 0),
        ("DELETE FROM a WHERE id IN (SELECT id FROM a FOR UPDATE SKIP LOCKED)", 0),
        ("SELECT 1 WHERE id IN (SELECT id FROM b LIMIT 2)", 0),
    ],
)
def test_such_a_list_is_told_from_others(statement: str, number: int) -> None:
    assert len(lists_that_are_found_anew(statement)) == number
