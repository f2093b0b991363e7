"""Secrets at rest: encrypted with rotatable keys, and bound to the row that they belong to."""

from config.encryption.fields import (
    Ciphertext,
    EncryptedTextField,
    UnreadableSecret,
    decrypt_text,
    encrypt_text,
    sealed,
    written,
)
from config.encryption.keys import keyring

__all__ = [
    "Ciphertext",
    "EncryptedTextField",
    "UnreadableSecret",
    "decrypt_text",
    "encrypt_text",
    "keyring",
    "sealed",
    "written",
]
