"""Erases a person: what is theirs ends, and every column of the database that still names them is rewritten.

What a column holds of a person is found by looking, not by a list of columns, which would be out of date some day.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from django.contrib.sessions.models import Session
from django.db import connection, transaction

from agency.actors import SYSTEM
from agency.models import ActivityEntry, User
from agency.services.people.users import erase_user
from config.errors import Conflict
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import replace_owner

BATCH = 500
PASSES = 5
NAME_MARK = "Erased person"

COLUMNS = """
SELECT class.relname, attribute.attname, type.typname,
    CASE WHEN type.typname = 'varchar' AND attribute.atttypmod > 0 THEN attribute.atttypmod - 4 END
FROM pg_attribute attribute
JOIN pg_class class ON class.oid = attribute.attrelid
JOIN pg_type type ON type.oid = attribute.atttypid
WHERE class.relkind = 'r' AND class.relnamespace = current_schema::regnamespace AND attribute.attnum > 0
    AND NOT attribute.attisdropped AND type.typname IN ('text', 'varchar', 'jsonb', 'bytea', '_text', '_varchar')
ORDER BY class.relname, attribute.attname
"""
# How a column is read as text, and made of text again. Bytes are read with each one above ASCII as \ooo.
AS_TEXT = {"bytea": "encode({0}, 'escape')"}
FROM_TEXT = {"bytea": "decode({0}, 'escape')", "jsonb": "({0})::jsonb", "_text": "({0})::text[]"}
FROM_TEXT["_varchar"] = "({0})::varchar[]"


class OwnsWorkspaces(Conflict):
    """Whoever owns sub-accounts must be replaced first."""


@dataclass(frozen=True, slots=True)
class Column:
    table: str
    name: str
    type: str
    length: int | None

    @property
    def text(self) -> str:
        quoted = connection.ops.quote_name(self.name)
        return AS_TEXT.get(self.type, "{0}::text").format(quoted)

    def made_of(self, text: str) -> str:
        cut = f"left({text}, {self.length})" if self.length else text
        return FROM_TEXT.get(self.type, "{0}").format(cut)


@dataclass(frozen=True, slots=True)
class Words:
    """What names a person, and what stands there afterwards."""

    email: str
    names: tuple[str, ...]
    email_mark: str

    def patterns(self, column: Column) -> Iterator[tuple[str, str]]:
        """Give regular expressions of PostgreSQL, with what replaces a hit.

        A name of one word may be a word of the language: only a whole value that says it is the person's.
        """
        for spelling in _spellings(self.email, column):
            yield rf"(?<![\w.%+-]){spelling}(?![\w-]|\.\w)", self.email_mark
        for name in self.names:
            for spelling in _spellings(name, column):
                if " " in name:
                    yield rf"(?<!\w){spelling}(?!\w)", NAME_MARK
                elif column.type in ("text", "varchar"):
                    yield rf"^{spelling}$", NAME_MARK
                else:
                    yield rf'"{spelling}"', f'"{NAME_MARK}"'


def _spellings(word: str, column: Column) -> set[str]:
    """Write a word as it stands in a column: in JSON in either of two ways, in bytes with escapes."""
    written = {word, json.dumps(word, ensure_ascii=False)[1:-1], json.dumps(word)[1:-1]}
    if column.type == "bytea":
        written = {_escaped_bytes(one) for one in written}
    return {re.sub(r"([^\w\s@])", r"\\\1", one) for one in written}


def _escaped_bytes(text: str) -> str:
    """Write text as PostgreSQL's `encode(…, 'escape')` does."""
    bytes_ = text.encode().replace(b"\\", b"\\\\")
    return "".join(chr(byte) if byte < 0x80 else f"\\{byte:03o}" for byte in bytes_)


def email_mark(number: int) -> str:
    """Give what stands for the address of an erased person, by the number of their row."""
    return f"erased-{number}@erased.invalid"


def words_of(user: User) -> Words:
    """Collect the address and the names that the person goes by."""
    owned = Workspace.objects.filter(owner=user).values_list("owner_name", flat=True)
    names = {name.strip() for name in [user.name, *owned] if len(name.strip()) > 1}
    return Words(user.email, tuple(sorted(names)), email_mark(user.pk))


def end_what_is_theirs(user: User, words: Words, replacement: User | None) -> None:
    """End sign-ins, memberships and e-mails, hand over what they own, and empty their row: all of it or nothing.

    Raises `OwnsWorkspaces` and, for the last owner of an agency, `LastOwner`.
    """
    with transaction.atomic():
        owned = list(Workspace.objects.filter(owner=user))
        if owned and replacement is None:
            raise OwnsWorkspaces(f"This person owns {len(owned)} sub-accounts: name who is to own them instead.")
        for workspace in owned:
            if replacement:
                replace_owner(workspace=workspace, owner=replacement, by=SYSTEM)
        erase_user(user=user, email=words.email_mark, by=SYSTEM)
        _end_sign_ins(user)


def _end_sign_ins(user: User) -> None:
    for session in Session.objects.iterator(BATCH):
        if session.get_decoded().get("_auth_user_id") == str(user.pk):
            session.delete()


def occurrences(words: Words) -> Counter[str]:
    """Count the rows that name the person, by table and column."""
    return Counter({f"{c.table}.{c.name}": len(rows) for c in _columns() if (rows := _rows(c, words))})


def rewrite(words: Words) -> Counter[str]:
    """Replace every mention of the person; says what is left after some passes, which is nothing."""
    for _ in range(PASSES):
        for column in _columns():
            rows = _rows(column, words)
            for start in range(0, len(rows), BATCH):
                _rewrite(column, rows[start : start + BATCH], words)
        if not (left := occurrences(words)):
            break
    return left


def forget_addresses(user: User) -> None:
    """Empty the network addresses that the person's changes were made from."""
    theirs = ActivityEntry.objects.filter(actor_kind__in=("user", "staff"), actor_id=str(user.pk)).exclude(address="")
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        found = list(theirs.values_list("pk", flat=True))
    for start in range(0, len(found), BATCH):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL agency.activity = 'erasure'")
            ActivityEntry.objects.filter(pk__in=found[start : start + BATCH]).update(address="")


def _columns() -> list[Column]:
    with connection.cursor() as cursor:
        cursor.execute(COLUMNS)
        return [Column(*row) for row in cursor.fetchall()]


def _rows(column: Column, words: Words) -> list[str]:
    """Find the rows, by their place. Reads the whole table, which may take long and locks nothing."""
    conditions = [f"{column.text} ~* %s" for _ in words.patterns(column)]
    values = [pattern for pattern, _ in words.patterns(column)]
    table = connection.ops.quote_name(column.table)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute(f"SELECT ctid::text FROM {table} WHERE {' OR '.join(conditions)}", values)  # noqa: S608  # names of the database's own
        return [row[0] for row in cursor.fetchall()]


def _rewrite(column: Column, rows: list[str], words: Words) -> None:
    """Rewrite a few rows; one that was changed meanwhile has moved, and the next pass finds it."""
    text, values = column.text, []
    for pattern, mark in words.patterns(column):
        text = f"regexp_replace({text}, %s, %s, 'gi')"
        values += [pattern, mark]
    table, name = (connection.ops.quote_name(one) for one in (column.table, column.name))
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL agency.activity = 'erasure'")
        statement = f"UPDATE {table} SET {name} = {column.made_of(text)} WHERE ctid = ANY (%s::tid[])"  # noqa: S608  # names of the database's own
        cursor.execute(statement, [*values, rows])
