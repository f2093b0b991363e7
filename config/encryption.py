"""Secrets at rest: encrypted with rotatable keys, and bound to the row that they belong to."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError, connection, models
from django.db.models.query_utils import DeferredAttribute


@lru_cache(maxsize=4)
def _keyring(keys: tuple[str, ...]) -> MultiFernet:
    try:
        return MultiFernet([Fernet(key) for key in keys])
    except ValueError as error:
        raise ImproperlyConfigured("FIELD_ENCRYPTION_KEYS holds a value that is not a Fernet key.") from error


def keyring() -> MultiFernet:
    """Return the keys of secrets at rest: the first encrypts, all decrypt."""
    return _keyring(tuple(settings.FIELD_ENCRYPTION_KEYS))


def newest_key() -> Fernet:
    """Return the key that encrypts."""
    return Fernet(settings.FIELD_ENCRYPTION_KEYS[0])


if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

    _TextField = models.BinaryField[str | None, str | None]
else:
    _TextField = models.BinaryField


class UnreadableSecret(Exception):
    """A stored secret was encrypted with a key that is no longer configured, or belongs to another row or column."""


class Ciphertext(bytes):
    """A value as it is stored. It can be opened only for the row that it was sealed for."""

    __slots__ = ()


class EncryptedAttribute(DeferredAttribute):
    """Decrypts an instance's ciphertext when the text is read. The instance says which row it is."""

    field: "EncryptedTextField"

    def __get__(self, instance: models.Model | None, owner: type[models.Model] | None = None) -> object:
        value = super().__get__(instance, owner)
        if instance is not None and isinstance(value, Ciphertext):
            value = self.field.open(value, row=self.field.row_of(instance))
            instance.__dict__[self.field.attname] = value
        return value

    def __set__(self, instance: models.Model, value: str | Ciphertext | None) -> None:
        instance.__dict__[self.field.attname] = value


class EncryptedTextField(_TextField):
    """Text stored as a Fernet token that is bound to its table, column and row. A token moved elsewhere is refused.

    `bound_to` names the field that identifies the row. That field has its value before the row is inserted, and the
    value never changes. Tokens from before they were bound to rows are still read; `rotate_encryption_keys` binds them.
    """

    descriptor_class = EncryptedAttribute

    def __init__(self, *args: Any, bound_to: str = "", **kwargs: Any) -> None:
        kwargs.setdefault("editable", False)
        self.bound_to = bound_to
        super().__init__(*args, **kwargs)

    def deconstruct(self) -> tuple[str, str, Sequence[object], dict[str, object]]:
        name, _, args, kwargs = super().deconstruct()
        return name, "config.encryption.EncryptedTextField", args, {**kwargs, "bound_to": self.bound_to}

    def row_of(self, instance: models.Model) -> str:
        """Return the value that identifies the row."""
        identity = cast("models.Field[object, object]", instance._meta.get_field(self.bound_to))
        value = getattr(instance, identity.attname)
        if value is None:
            raise ValueError(f"{self.name} is bound to {self.bound_to}, which is not known yet.")
        return str(identity.to_python(value))

    def binding(self, row: str | None) -> bytes:
        """Return the prefix of a token's text. Without a row it is the prefix from before tokens were bound to rows."""
        place = f"{self.model._meta.db_table}.{self.column}"
        return (f"{place}:" if row is None else f"{place}#{row}:").encode()

    def seal(self, text: str, *, row: str | None) -> Ciphertext:
        return Ciphertext(keyring().encrypt(self.binding(row) + text.encode()))

    def open(self, token: bytes, *, row: str) -> str:
        """Decrypt a token. Raises `UnreadableSecret`, which reveals nothing of the text."""
        try:
            plain = keyring().decrypt(bytes(token))
        except InvalidToken as error:
            raise UnreadableSecret(f"A value of {self.model._meta.label}.{self.name} cannot be read.") from error
        for binding in (self.binding(row), self.binding(None)):
            if plain.startswith(binding):
                return plain[len(binding) :].decode()
        raise UnreadableSecret(f"A value of {self.model._meta.label}.{self.name} belongs elsewhere.")

    def pre_save(self, model_instance: models.Model, add: bool) -> object:
        """Encrypt a new text for this row. A value that nobody has read is written back as it is."""
        value = model_instance.__dict__[self.attname]
        return self.seal(value, row=self.row_of(model_instance)) if isinstance(value, str) else value

    def get_db_prep_value(self, value: object, connection: "BaseDatabaseWrapper", prepared: bool = False) -> object:
        if isinstance(value, str):
            raise TypeError(f"{self.name} is bound to its row: update with sealed(instance, {self.name!r}, text).")
        return super().get_db_prep_value(value, connection, prepared)

    def from_db_value(self, value: bytes | None, *_: object) -> Ciphertext | None:
        return None if value is None else Ciphertext(value)

    def to_python(self, value: object) -> object:
        return value


def encrypted_value(instance: models.Model, name: str, text: str) -> bytes:
    """Encrypt a text for one field of one row, for a statement that updates the row without its instance."""
    field = instance._meta.get_field(name)
    if not isinstance(field, EncryptedTextField):
        raise TypeError(f"{name} is not encrypted.")
    return field.seal(text, row=field.row_of(instance))


def value_to_save(instance: models.Model, name: str) -> object:
    """Return what a save would write for a field: a secret encrypted, anything else as it is."""
    value = getattr(instance, name)
    is_secret = isinstance(instance._meta.get_field(name), EncryptedTextField)
    return encrypted_value(instance, name, value) if is_secret and value is not None else value


def encrypt_text(text: str, *, context: str) -> str:
    """Encrypt a text that is kept for a day, as a part of an answer to an API call (`config.api.idempotency`).

    `context` says what the text belongs to, such as `workspace_key#8d1f…`. It can be read only with the same context.
    """
    return keyring().encrypt(f"{context}:{text}".encode()).decode()


def decrypt_text(token: str, *, context: str) -> str:
    """Decrypt the text. Raises `UnreadableSecret` for another context, or if the key has been removed."""
    try:
        plain = keyring().decrypt(token.encode()).decode()
    except InvalidToken as error:
        raise UnreadableSecret("A text kept for a day cannot be read.") from error
    if not plain.startswith(f"{context}:"):
        raise UnreadableSecret("A text kept for a day belongs elsewhere.")
    return plain.removeprefix(f"{context}:")


def reencrypt_text(token: str) -> str | None:
    """Encrypt the text with the first key; None if it is already. Raises `UnreadableSecret` if no key opens it."""
    if _is_current(token.encode(), b""):
        return None
    try:
        return keyring().rotate(token.encode()).decode()
    except InvalidToken as error:
        raise UnreadableSecret("A text kept for a day cannot be read.") from error


BATCH = 500
PASSES = 5
# The names come from the models, quoted.
NEXT = "SELECT {key}, {row}::text, {value} FROM {table} WHERE {value} IS NOT NULL AND {key} > %s ORDER BY 1 LIMIT %s"
REPLACE = "UPDATE {table} SET {value} = %s WHERE {key} = %s AND {value} = %s"
Outcome = Literal["re-encrypted", "current", "changed meanwhile", "unreadable"]


class StoredSecret(NamedTuple):
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
class RotationResult:
    """The outcomes for the rows of a table. `unreadable` names the first rows that could not be read."""

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


def reencrypt(column: Column, *, batch: int = BATCH) -> RotationResult:
    """Re-encrypt every secret of a column with the first key, bound to its row.

    Each row is updated only if its token is unchanged, so a secret that was replaced meanwhile stays as it is.
    """
    done = RotationResult()
    for stored in _stored(column, batch):
        done.add(_settle(column, stored), stored.row)
    return done


def _stored(column: Column, batch: int) -> Iterator[StoredSecret]:
    """Yield the stored tokens by primary key: a statement for each batch, and no transaction open in between."""
    statement = NEXT.format(**column.names())
    last = -1
    while True:
        with connection.cursor() as cursor:
            cursor.execute(statement, [last, batch])
            rows = cursor.fetchall()
        if not rows:
            return
        yield from (StoredSecret(key, row, bytes(token)) for key, row, token in rows)
        last = rows[-1][0]


def _settle(column: Column, stored: StoredSecret) -> Outcome:
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


def _replace(column: Column, stored: StoredSecret, new: bytes) -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute(REPLACE.format(**column.names()), [new, stored.key, stored.token])
            return bool(cursor.rowcount)
    except OperationalError:  # the row is locked for longer than we wait: somebody is changing it
        return False
