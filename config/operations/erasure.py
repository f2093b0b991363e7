"""Erases a person: ends all that is theirs, and rewrites every database column that still names them.

The columns are found by searching. A list of columns would be out of date some day.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import attrgetter

from django.db import connection, transaction

from agency.actors import SYSTEM
from agency.models import ActivityEntry, BulkOperation, Export, User
from agency.services.agencies import lock_agencies
from agency.services.members import agencies_of, erase_user
from agency.services.passwords import end_sessions
from config.db import database_now
from config.errors import Conflict
from config.postgresql.concurrency import retry_on_conflict
from workspaces.subaccounts.models import Workspace, WorkspaceMember
from workspaces.subaccounts.services import remove_workspace_member, replace_owner

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
# How a column is read as text, and made of text again. In bytes, each byte above ASCII is read as \ooo.
AS_TEXT = {"bytea": "encode({0}, 'escape')"}
FROM_TEXT = {"bytea": "decode({0}, 'escape')", "jsonb": "({0})::jsonb", "_text": "({0})::text[]"}
FROM_TEXT["_varchar"] = "({0})::varchar[]"


class OwnsWorkspaces(Conflict):
    """The person owns sub-accounts, so a new owner must be named first."""


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
class PersonalData:
    """The words that name a person, and the words that replace them."""

    email: str
    names: tuple[str, ...]
    email_mark: str

    def spellings(self, column: Column) -> Iterator[str]:
        """Yield expressions that match wherever a column names the person, and elsewhere now and then."""
        for word in (self.email, *self.names):
            yield from _spellings(word, column)

    def patterns(self, column: Column) -> Iterator[tuple[str, str]]:
        """Yield regular expressions of PostgreSQL, each with the replacement of a match.

        A name of one word may be an ordinary word. So it counts only if it is the whole value.
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
    """Return a word as it may stand in a column: in JSON in either of two ways, in bytes with escapes."""
    written = {word, json.dumps(word, ensure_ascii=False)[1:-1], json.dumps(word)[1:-1]}
    if column.type == "bytea":
        written = {_escaped_bytes(one) for one in written}
    return {re.sub(r"([^\w\s@])", r"\\\1", one) for one in written}


def _escaped_bytes(text: str) -> str:
    """Return text as PostgreSQL's `encode(…, 'escape')` writes it."""
    bytes_ = text.encode().replace(b"\\", b"\\\\")
    return "".join(chr(byte) if byte < 0x80 else f"\\{byte:03o}" for byte in bytes_)


def email_mark(number: int) -> str:
    """Return the address that replaces an erased person's, by the number of their row."""
    return f"erased-{number}@erased.invalid"


def personal_data_of(user: User) -> PersonalData:
    """Collect the person's address and names."""
    owned = Workspace.objects.filter(owner=user).values_list("owner_name", flat=True)
    names = {name.strip() for name in [user.name, *owned] if len(name.strip()) > 1}
    return PersonalData(user.email, tuple(sorted(names)), email_mark(user.pk))


def close_account(user: User, words: PersonalData, replacement: User | None) -> None:
    """End the person's sign-ins, memberships and e-mails, hand over what they own, and empty their row.

    All of this is one transaction. Raises `OwnsWorkspaces` and, for the last owner of an agency, `LastOwner`.
    """
    with transaction.atomic():
        works_in = Workspace.objects.filter(members__user=user) | Workspace.objects.filter(owner=user)
        lock_agencies(agencies_of(user) | set(works_in.values_list("agency", flat=True)))
        owned = list(Workspace.objects.filter(owner=user))
        if owned and replacement is None:
            raise OwnsWorkspaces(f"This person owns {len(owned)} sub-accounts: name who is to own them instead.")
        for workspace in owned:
            if replacement:
                replace_owner(workspace=workspace, owner=replacement, by=SYSTEM)
        for member in WorkspaceMember.objects.filter(user=user).select_related("workspace"):
            remove_workspace_member(member=member, now=database_now(), by=SYSTEM)
        erase_user(user=user, email=words.email_mark, by=SYSTEM)
        end_sessions(user=user)


def count_mentions(words: PersonalData) -> Counter[str]:
    """Count the rows that name the person, by table and column."""
    return Counter(
        {
            f"{column.table}.{column.name}": sum(rows[place] for rows in table.rows.values())
            for table in _mentions(words)
            for place, column in enumerate(table.columns)
            if any(rows[place] for rows in table.rows.values())
        }
    )


def anonymize(words: PersonalData) -> Counter[str]:
    """Replace every mention of the person. Returns what is left after some passes, which is usually nothing."""
    for _ in range(PASSES):
        found = list(_mentions(words))
        if not found:
            return Counter()
        for table in found:
            rows = list(table.rows)
            for start in range(0, len(rows), BATCH):
                retry_on_conflict(partial(_rewrite, table, rows[start : start + BATCH], words))
    return count_mentions(words)


def forget_addresses(user: User) -> None:
    """Clear the network addresses from which the person made changes and jobs."""
    for model in (BulkOperation, Export):
        model._default_manager.filter(created_by=user).update(address="")
    theirs = ActivityEntry.objects.filter(actor_kind__in=("user", "staff"), actor_id=str(user.pk)).exclude(address="")
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        found = list(theirs.values_list("pk", flat=True))
    for start in range(0, len(found), BATCH):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL agency.activity = 'erasure'")
            ActivityEntry.objects.filter(pk__in=found[start : start + BATCH]).update(address="")


@dataclass(frozen=True, slots=True)
class Mentions:
    """The rows of a table that name the person: each row's place, with a flag for each column."""

    columns: list[Column]
    rows: dict[str, list[bool]]


def _mentions(words: PersonalData) -> Iterator[Mentions]:
    """Yield the tables that name the person. Each is read once, which may take long and locks nothing."""
    for _, columns in groupby(_columns(), key=attrgetter("table")):
        found = _find(list(columns), words)
        if found.rows:
            yield found


def _columns() -> list[Column]:
    with connection.cursor() as cursor:
        cursor.execute(COLUMNS)
        return [Column(*row) for row in cursor.fetchall()]


def _find(columns: list[Column], words: PersonalData) -> Mentions:
    """Search all columns of a table at once. Only rows that match as a whole are searched column by column."""
    patterns = [[pattern for pattern, _ in words.patterns(column)] for column in columns]
    each = [
        f"coalesce({' OR '.join([f'{column.text} ~* %s'] * len(some))}, false)"
        for column, some in zip(columns, patterns, strict=True)
    ]
    values = [pattern for some in patterns for pattern in some]
    anywhere = "|".join(sorted({spelling for column in columns for spelling in words.spellings(column)}))
    row = f"concat_ws(' ', {', '.join(column.text for column in columns)})"
    table = connection.ops.quote_name(columns[0].table)
    statement = f"SELECT ctid::text, ARRAY[{', '.join(each)}] FROM {table} WHERE {row} ~* %s AND ({' OR '.join(each)})"  # noqa: S608  # names of the database's own
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute(statement, [*values, anywhere, *values])
        return Mentions(columns, dict(cursor.fetchall()))


def _rewrite(table: Mentions, rows: list[str], words: PersonalData) -> None:
    """Rewrite a few rows by their places. A row that was changed meanwhile has moved; the next pass finds it.

    Another row may have come into its place. Only mentions of the person change in it.
    """
    changes, values = [], []
    for place, column in enumerate(table.columns):
        if any(table.rows[row][place] for row in rows):
            text = column.text
            for pattern, mark in words.patterns(column):
                text = f"regexp_replace({text}, %s, %s, 'gi')"
                values += [pattern, mark]
            changes.append(f"{connection.ops.quote_name(column.name)} = {column.made_of(text)}")
    name = connection.ops.quote_name(table.columns[0].table)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL agency.activity = 'erasure'")
        statement = f"UPDATE {name} SET {', '.join(changes)} WHERE ctid = ANY (%s::tid[])"  # noqa: S608  # names of the database's own
        cursor.execute(statement, [*values, rows])
