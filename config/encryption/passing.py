"""Texts that are kept encrypted for a day, outside of the columns that `rotate_encryption_keys` rewrites."""

from cryptography.fernet import InvalidToken

from config.encryption.fields import UnreadableSecret
from config.encryption.keys import keyring


def seal_passing(text: str, *, place: str) -> str:
    """Encrypt a text for one place alone, such as `api_key#8d1f…`."""
    return keyring().encrypt(f"{place}:{text}".encode()).decode()


def open_passing(token: str, *, place: str) -> str:
    """Give the text. Raises `UnreadableSecret` where it was sealed for another place, or with a key that has gone."""
    try:
        plain = keyring().decrypt(token.encode()).decode()
    except InvalidToken as error:
        raise UnreadableSecret("A text kept for a day cannot be read.") from error
    if not plain.startswith(f"{place}:"):
        raise UnreadableSecret("A text kept for a day belongs elsewhere.")
    return plain.removeprefix(f"{place}:")
