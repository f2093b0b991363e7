"""A text column that is encrypted at rest."""

from typing import TYPE_CHECKING, Any, cast

from cryptography.fernet import InvalidToken
from django.db import models
from django.db.models.query_utils import DeferredAttribute

from config.encryption.keys import keyring

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

    _TextField = models.BinaryField[str | None, str | None]
else:
    _TextField = models.BinaryField


class UnreadableSecret(Exception):
    """A secret at rest was encrypted with a key that is no longer configured, or belongs to another row or column."""


class Ciphertext(bytes):
    """A value as it is stored; only the row that it was sealed for can open it."""

    __slots__ = ()


class SealedAttribute(DeferredAttribute):
    """Opens an instance's ciphertext when somebody asks for the text: the instance knows which row it is."""

    field: "EncryptedTextField"

    def __get__(self, instance: models.Model | None, owner: Any = None) -> Any:
        value = super().__get__(instance, owner)
        if instance is not None and isinstance(value, Ciphertext):
            value = self.field.open(value, row=self.field.row_of(instance))
            instance.__dict__[self.field.attname] = value
        return value

    def __set__(self, instance: models.Model, value: str | Ciphertext | None) -> None:
        instance.__dict__[self.field.attname] = value


class EncryptedTextField(_TextField):
    """Text kept as a Fernet token that is bound to its table, column and row: moved elsewhere it is refused.

    `bound_to` names the field that tells the row from all others, is there before the row is, and never changes.
    Tokens written before they were bound to rows are still read; `rotate_encryption_keys` binds them.
    """

    descriptor_class = SealedAttribute

    def __init__(self, *args: Any, bound_to: str = "", **kwargs: Any) -> None:
        kwargs.setdefault("editable", False)
        self.bound_to = bound_to
        super().__init__(*args, **kwargs)

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, "config.encryption.EncryptedTextField", args, {**kwargs, "bound_to": self.bound_to}

    def row_of(self, instance: models.Model) -> str:
        """Give what the row is known by."""
        identity = cast("models.Field[Any, Any]", instance._meta.get_field(self.bound_to))
        value = getattr(instance, identity.attname)
        if value is None:
            raise ValueError(f"{self.name} is bound to {self.bound_to}, which is not known yet.")
        return str(identity.to_python(value))

    def binding(self, row: str | None) -> bytes:
        """Give what a token's text begins with; without a row, as it was before they were bound to rows."""
        place = f"{self.model._meta.db_table}.{self.column}"
        return (f"{place}:" if row is None else f"{place}#{row}:").encode()

    def seal(self, text: str, *, row: str | None) -> Ciphertext:
        return Ciphertext(keyring().encrypt(self.binding(row) + text.encode()))

    def open(self, token: bytes, *, row: str) -> str:
        """Give the text. Raises `UnreadableSecret`, which says nothing of it."""
        try:
            plain = keyring().decrypt(bytes(token))
        except InvalidToken as error:
            raise UnreadableSecret(f"A value of {self.model._meta.label}.{self.name} cannot be read.") from error
        for binding in (self.binding(row), self.binding(None)):
            if plain.startswith(binding):
                return plain[len(binding) :].decode()
        raise UnreadableSecret(f"A value of {self.model._meta.label}.{self.name} belongs elsewhere.")

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:
        """Seal for this row what was set; what nobody has opened is written back as it is."""
        value = model_instance.__dict__[self.attname]
        return self.seal(value, row=self.row_of(model_instance)) if isinstance(value, str) else value

    def get_db_prep_value(self, value: Any, connection: "BaseDatabaseWrapper", prepared: bool = False) -> Any:
        if isinstance(value, str):
            raise TypeError(f"{self.name} is bound to its row: update with sealed(instance, {self.name!r}, text).")
        return super().get_db_prep_value(value, connection, prepared)

    def from_db_value(self, value: Any, *_: Any) -> Ciphertext | None:
        return None if value is None else Ciphertext(value)

    def to_python(self, value: Any) -> Any:
        return value


def sealed(instance: models.Model, name: str, text: str) -> Any:
    """Encrypt a text for one field of one row, for a statement that updates the row without its instance."""
    field = instance._meta.get_field(name)
    if not isinstance(field, EncryptedTextField):
        raise TypeError(f"{name} is not encrypted.")
    return field.seal(text, row=field.row_of(instance))


def written(instance: models.Model, name: str) -> Any:
    """Give what a save would write of a field: a secret sealed, anything else as it is."""
    value = getattr(instance, name)
    is_secret = isinstance(instance._meta.get_field(name), EncryptedTextField)
    return sealed(instance, name, value) if is_secret and value is not None else value


def encrypt_text(text: str, *, context: str) -> str:
    """Encrypt a text that is kept for a day, outside of the columns that `rotate_encryption_keys` rewrites.

    `context` says what it belongs to, such as `workspace_key#8d1f…`: it is read with the same one only.
    """
    return keyring().encrypt(f"{context}:{text}".encode()).decode()


def decrypt_text(token: str, *, context: str) -> str:
    """Give the text. Raises `UnreadableSecret` for another context, or where the key has been taken away."""
    try:
        plain = keyring().decrypt(token.encode()).decode()
    except InvalidToken as error:
        raise UnreadableSecret("A text kept for a day cannot be read.") from error
    if not plain.startswith(f"{context}:"):
        raise UnreadableSecret("A text kept for a day belongs elsewhere.")
    return plain.removeprefix(f"{context}:")
