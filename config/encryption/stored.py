"""Re-encrypts the secrets at rest, row by row, while the system runs."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from cryptography.fernet import InvalidToken
from django.db import OperationalError, connection, models

from config.encryption.fields import EncryptedTextField, UnreadableSecret
from config.encryption.keys import newest_key

BATCH = 500
PASSES = 5
# The names come from the models, quoted.
NEXT = "SELECT {key}, {row}::text, {value} FROM {table} WHERE {value} IS NOT NULL AND {key} > %s ORDER BY 1 LIMIT %s"
REPLACE = "UPDATE {table} SET {value} = %s WHERE {key} = %s AND {value} = %s"
Outcome = Literal["re-encrypted", "current", "changed meanwhile", "unreadable"]


class Stored(NamedTuple):
    """A row's primary key, the value that identifies the row, and its token."""

    key: int
    row: str
    token: bytes


@dataclass(frozen=True)
class Column:
    """One column of secrets."""

    model: type[models.Model]
    field: EncryptedTextField

    @property
    def table(self) -> str:
        return self.model._meta.db_table

    @property
    def label(self) -> str:
        return f"{self.model._meta.label}.{self.field.name}"

    def names(self) -> dict[str, str]:
        """Return the names of table, primary key, identifying column and secret column, quoted for a statement."""
        known_by: Any = self.model._meta.get_field(self.field.bound_to)
        names = {"table": self.table, "key": self.model._meta.pk.column, "row": known_by.column}
        return {name: connection.ops.quote_name(str(of)) for name, of in {**names, "value": self.field.column}.items()}


@dataclass
class Pass:
    """The outcomes for a column's rows. `unreadable` names the first rows that could not be read."""

    counts: Counter[Outcome] = field(default_factory=Counter)
    unreadable: list[str] = field(default_factory=list)

    def add(self, outcome: Outcome, row: str) -> None:
        self.counts[outcome] += 1
        if outcome == "unreadable" and len(self.unreadable) < 10:
            self.unreadable.append(row)


def columns_of(*models_: type[models.Model]) -> list[Column]:
    """Return every column of secrets of these models."""
    return [
        Column(model, field)
        for model in models_
        for field in model._meta.local_concrete_fields
        if isinstance(field, EncryptedTextField)
    ]


def reencrypt(column: Column, *, batch: int = BATCH) -> Pass:
    """Re-encrypt every secret of a column with the first key, bound to its row.

    Each row is updated only if its token is unchanged, so a secret that was replaced meanwhile stays as it is.
    """
    done = Pass()
    for stored in _stored(column, batch):
        done.add(_settle(column, stored), stored.row)
    return done


def _stored(column: Column, batch: int) -> Iterator[Stored]:
    """Yield the stored tokens by primary key: a statement for each batch, and no transaction open in between."""
    statement = NEXT.format(**column.names())
    last = -1
    while True:
        with connection.cursor() as cursor:
            cursor.execute(statement, [last, batch])
            rows = cursor.fetchall()
        if not rows:
            return
        yield from (Stored(key, row, bytes(token)) for key, row, token in rows)
        last = rows[-1][0]


def _settle(column: Column, stored: Stored) -> Outcome:
    if _is_current(stored.token, column.field.binding(stored.row)):
        return "current"
    try:
        text = column.field.open(stored.token, row=stored.row)
    except UnreadableSecret:
        return "unreadable"
    renewed = column.field.seal(text, row=stored.row)
    return "re-encrypted" if _replace(column, stored, renewed) else "changed meanwhile"


def _is_current(token: bytes, binding: bytes) -> bool:
    """Return whether the first key decrypts a token, and the token is bound to its row."""
    try:
        return newest_key().decrypt(token).startswith(binding)
    except InvalidToken:
        return False


def _replace(column: Column, stored: Stored, new: bytes) -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute(REPLACE.format(**column.names()), [new, stored.key, stored.token])
            return bool(cursor.rowcount)
    except OperationalError:  # the row is locked for longer than we wait: somebody is changing it
        return False
