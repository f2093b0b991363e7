"""What every table shares: comparable names and secrets encrypted at rest."""

import unicodedata
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import psycopg
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import IntegrityError, connection, models

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

    _TextField = models.BinaryField[str | None, str | None]
else:
    _TextField = models.BinaryField


# A name has at most 120 characters, which few ligatures make more than four times as long; their rest is not compared.
LONGEST_NAME_KEY = 480
# Marks that keep the direction of a part of a text to itself and show nothing.
ISOLATES = dict.fromkeys(range(0x2066, 0x206A))


def name_key(name: str) -> str:
    """Give the form in which two spellings of a name are the same: trimmed, composed, without case."""
    folded = unicodedata.normalize("NFKC", name.translate(ISOLATES).strip()).casefold()
    return unicodedata.normalize("NFKC", folded)[:LONGEST_NAME_KEY]


def violated_constraint(error: IntegrityError) -> str:
    """Give the name of the constraint that refused a statement, or nothing."""
    cause = error.__cause__
    return (cause.diag.constraint_name or "") if isinstance(cause, psycopg.Error) else ""


def like_pattern(fragment: str) -> str:
    """Give the LIKE pattern for a substring; `%`, `_` and the backslash stay plain characters."""
    escaped = fragment.replace("\\", "\\\\").replace("%", r"\%").replace("_", r"\_")
    return f"%{escaped}%"


def database_now() -> datetime:
    """Give the time by the database's clock, which all hosts share; what is due is judged by it alone."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        [now] = cursor.fetchone()
    return cast("datetime", now)


def fetch_rows(cursor: Any) -> list[dict[str, Any]]:
    """Give all rows of a statement by the names of their columns."""
    names = [column.name for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


@lru_cache(maxsize=4)
def _keyring(keys: tuple[str, ...]) -> MultiFernet:
    try:
        return MultiFernet([Fernet(key) for key in keys])
    except ValueError as error:
        raise ImproperlyConfigured("FIELD_ENCRYPTION_KEYS holds a value that is not a Fernet key.") from error


def keyring() -> MultiFernet:
    """Give the keys of secrets at rest: the first encrypts, all decrypt."""
    return _keyring(tuple(settings.FIELD_ENCRYPTION_KEYS))


class CurrentTransaction(models.Func):
    """The number of the transaction that writes a row: 64 bits that only grow."""

    template = "pg_current_xact_id()::text::bigint"
    output_field = models.BigIntegerField()


class UnreadableSecret(Exception):
    """A secret at rest was encrypted with a key that is no longer configured, or belongs to another column."""


class EncryptedTextField(_TextField):
    """Text kept as a Fernet token, bound to its table and column so that a token moved elsewhere is refused."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("editable", False)
        super().__init__(*args, **kwargs)

    def _binding(self) -> bytes:
        return f"{self.model._meta.db_table}.{self.column}:".encode()

    def seal(self, text: str) -> bytes:
        return keyring().encrypt(self._binding() + text.encode())

    def open(self, token: bytes) -> str:
        try:
            plain = keyring().decrypt(bytes(token))
        except InvalidToken as error:
            raise UnreadableSecret(f"A value of {self.model._meta.label}.{self.name} cannot be read.") from error
        if not plain.startswith(self._binding()):
            raise UnreadableSecret(f"A value of {self.model._meta.label}.{self.name} belongs elsewhere.")
        return plain[len(self._binding()) :].decode()

    def get_db_prep_value(self, value: Any, connection: "BaseDatabaseWrapper", prepared: bool = False) -> Any:
        if isinstance(value, str):
            value = self.seal(value)
        return super().get_db_prep_value(value, connection, prepared)

    def from_db_value(self, value: Any, *_: Any) -> str | None:
        return None if value is None else self.open(bytes(value))

    def to_python(self, value: Any) -> Any:
        return value
