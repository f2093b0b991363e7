"""Secrets at rest: encrypted with a rotatable key, and bound to the row that they belong to."""

from config.encryption.fields import Ciphertext, EncryptedTextField, UnreadableSecret, sealed, written
from config.encryption.keys import keyring
from config.encryption.passing import open_passing, seal_passing

__all__ = [
    "Ciphertext",
    "EncryptedTextField",
    "UnreadableSecret",
    "keyring",
    "open_passing",
    "seal_passing",
    "sealed",
    "written",
]
