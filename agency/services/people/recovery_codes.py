"""Recovery codes: ten at a time, shown once, each valid for one sign-in."""

import hashlib
import secrets
from datetime import datetime

from agency.models import RecoveryCode, User

NUMBER = 10
# Without letters that people take for others; the letters in `READ_AS` are read as digits.
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH, GROUP = 16, 4
READ_AS = str.maketrans("oil", "011")


def new_codes(user: User) -> list[str]:
    """Replace a person's codes and return the new ones as they are shown; the caller is inside a transaction."""
    codes = ["".join(secrets.choice(ALPHABET) for _ in range(LENGTH)) for _ in range(NUMBER)]
    RecoveryCode.objects.filter(user=user).delete()
    RecoveryCode.objects.bulk_create(RecoveryCode(user=user, digest=_digest(code)) for code in codes)
    return ["-".join(code[start : start + GROUP] for start in range(0, LENGTH, GROUP)) for code in codes]


def use_recovery_code(*, user: User, code: str, now: datetime) -> bool:
    """Use a code up; return False for a wrong or used code, however many requests send it at once."""
    unused = RecoveryCode.objects.filter(user=user, digest=_digest(code), used_at=None)
    return bool(unused.update(used_at=now))


def codes_left(user: User) -> int:
    return RecoveryCode.objects.filter(user=user, used_at=None).count()


def _digest(code: str) -> bytes:
    """Return the SHA-256 of a code however it was typed; 80 random bits need no slower hash."""
    typed = "".join(character for character in code.lower() if character.isalnum())
    return hashlib.sha256(typed.translate(READ_AS).encode()).digest()
