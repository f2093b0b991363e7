"""The keys of secrets at rest."""

from functools import lru_cache

from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


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
