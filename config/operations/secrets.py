"""Re-encrypts the secrets at rest with the newest key, while the system works on."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from cryptography.fernet import Fernet, InvalidToken
from django.apps import apps
from django.conf import settings
from django.db import OperationalError, connection, models

from config.db import EncryptedTextField, keyring

BATCH = 500
Outcome = Literal["re-encrypted", "current", "changed meanwhile", "unreadable"]


@dataclass(frozen=True)
class Column:
    """One column of secrets."""

    model: type[models.Model]
    field: EncryptedTextField

    @property
    def table(self) -> str:
        return self.model._meta.db_table

    def names(self) -> tuple[str, str, str]:
        """Give table, primary key and column, quoted for a statement."""
        quote = connection.ops.quote_name
        return quote(self.table), quote(str(self.model._meta.pk.column)), quote(str(self.field.column))

    @property
    def label(self) -> str:
        return f"{self.model._meta.label}.{self.field.name}"


def encrypted_columns() -> list[Column]:
    """Give every column of secrets of the whole product."""
    return [
        Column(model, field)
        for model in apps.get_models()
        for field in model._meta.local_concrete_fields
        if isinstance(field, EncryptedTextField)
    ]


def reencrypt(column: Column, *, batch: int = BATCH) -> Counter[Outcome]:
    """Bring every secret of a column under the first key; counts what became of the rows.

    Rows are compared and set one by one, so a secret replaced meanwhile stays as it was replaced.
    """
    newest = Fernet(settings.FIELD_ENCRYPTION_KEYS[0])
    return Counter(_settle(column, newest, key, token) for key, token in _tokens(column, batch))


def _tokens(column: Column, batch: int) -> Iterator[tuple[int, bytes]]:
    """Walk the stored tokens by primary key, a batch a statement and no transaction open in between."""
    table, key, value = column.names()
    statement = (
        f"SELECT {key}, {value} FROM {table} "  # noqa: S608  # names from the models, quoted
        f"WHERE {value} IS NOT NULL AND {key} > %s ORDER BY {key} LIMIT %s"
    )
    last = -1
    while True:
        with connection.cursor() as cursor:
            cursor.execute(statement, [last, batch])
            rows = cursor.fetchall()
        if not rows:
            return
        yield from ((row[0], bytes(row[1])) for row in rows)
        last = rows[-1][0]


def _settle(column: Column, newest: Fernet, key: int, token: bytes) -> Outcome:
    if _opens(newest, token):
        return "current"
    try:
        renewed = keyring().rotate(token)
    except InvalidToken:
        return "unreadable"
    return "re-encrypted" if _replace(column, key, token, renewed) else "changed meanwhile"


def _opens(key: Fernet, token: bytes) -> bool:
    try:
        key.decrypt(token)
    except InvalidToken:
        return False
    return True


def _replace(column: Column, key: int, old: bytes, new: bytes) -> bool:
    table, primary, value = column.names()
    statement = f"UPDATE {table} SET {value} = %s WHERE {primary} = %s AND {value} = %s"  # noqa: S608  # quoted names
    try:
        with connection.cursor() as cursor:
            cursor.execute(statement, [new, key, old])
            return bool(cursor.rowcount)
    except OperationalError:  # the row is locked for longer than we wait: somebody is changing it
        return False
