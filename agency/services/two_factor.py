"""Two-factor with recovery codes: set up, required at each sign-in, switched off by its person or by support.

Codes are those of RFC 6238: six digits, a step of 30 seconds, one step of drift either way. `now` is the database's.
`agency` is the one on whose host a person is; e-mails to the person are in its name.
"""

import hashlib
import logging
import re
import secrets
from datetime import datetime, timedelta

import pyotp
from django.db import connection, transaction
from pyotp.exceptions import OTPVerificationError

from agency.actors import Actor
from agency.models import Agency, Mail, RecoveryCode, TwoFactor, User
from agency.services.activity import record_activity
from agency.services.mail.queue import queue_mail
from agency.services.passwords import end_sessions, only_agency_of
from config.encryption import UnreadableSecret
from config.errors import Conflict, InvalidInput

CODES_PER_PERSON = 10
# Without letters that people take for others; the letters in `LOOKALIKES` are read as digits.
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH, GROUP = 16, 4
LOOKALIKES = str.maketrans("oil", "011")


def new_codes(user: User) -> list[str]:
    """Replace a person's codes and return the new ones as they are shown; the caller is inside a transaction."""
    codes = ["".join(secrets.choice(ALPHABET) for _ in range(LENGTH)) for _ in range(CODES_PER_PERSON)]
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
    return hashlib.sha256(typed.translate(LOOKALIKES).encode()).digest()


logger = logging.getLogger(__name__)

CODE = re.compile(r"[0-9]{6}")
DRIFT = 1
# How long a person who has begun to set it up has for a first code.
SET_UP_LASTS = timedelta(hours=1)
MOST_ATTEMPTS, ATTEMPTS_WINDOW = 20, timedelta(minutes=15)
# Includes attempts of browsers that the account has signed in with; strangers cannot use up their half.
MOST_ATTEMPTS_OF_ALL = 2 * MOST_ATTEMPTS
COUNT_ATTEMPT = """
UPDATE agency_twofactor SET
    attempts = CASE WHEN attempts_since > %(since)s
        THEN GREATEST(attempts, LEAST(attempts + 1, %(most)s + 1)) ELSE 1 END,
    attempts_since = CASE WHEN attempts_since > %(since)s THEN attempts_since ELSE %(now)s END
WHERE user_id = %(user)s RETURNING attempts, attempts_since
"""


class CodeIsWrong(InvalidInput):
    field = "code"
    message = "The code is wrong, or it has already been used."


class TwoFactorIsOn(Conflict):
    message = "Two-factor is switched on already."


class SetUpIsOver(Conflict):
    message = "Start again. The setup took too long, or you started it somewhere else."


def has_two_factor(user: User) -> bool:
    return TwoFactor.objects.filter(user=user, confirmed_at__isnull=False).exists()


def two_factor_of(user: User) -> TwoFactor | None:
    """Return the person's confirmed two-factor, if there is one."""
    return TwoFactor.objects.filter(user=user, confirmed_at__isnull=False).first()


def pending_two_factor_of(user: User, *, now: datetime) -> TwoFactor | None:
    """Return the two-factor that the person has begun to set up and not confirmed with a code, while that lasts."""
    return TwoFactor.objects.filter(user=user, confirmed_at=None, created_at__gt=now - SET_UP_LASTS).first()


@transaction.atomic
def begin_two_factor(*, user: User, now: datetime) -> TwoFactor:
    """Make a key for the person's app, in place of a key that was begun earlier. Raises `TwoFactorIsOn`."""
    _lock(user)
    if has_two_factor(user):
        raise TwoFactorIsOn
    TwoFactor.objects.filter(user=user).delete()
    return TwoFactor.objects.create(user=user, secret=pyotp.random_base32(), created_at=now, attempts_since=now)


@transaction.atomic
def confirm_two_factor(
    *, user: User, code: str, now: datetime, keep: str | None, by: Actor, agency: Agency | None = None
) -> list[str]:
    """Switch two-factor on with a first code, end the person's other sessions and return ten recovery codes.

    Raises `TwoFactorIsOn`, `SetUpIsOver`, `CodeIsWrong`.
    """
    _lock(user)
    if has_two_factor(user):
        raise TwoFactorIsOn
    begun = pending_two_factor_of(user, now=now)
    if begun is None:
        raise SetUpIsOver
    step = _step_of(begun, code, now)
    if step is None:
        raise CodeIsWrong
    begun.confirmed_at, begun.last_used_step = now, step
    begun.save(update_fields=["confirmed_at", "last_used_step"])
    end_sessions(user=user, keep=keep)
    _tell(user, "two_factor.switched_on", "on", by, agency)
    return new_codes(user)


def use_code(*, user: User, code: str, now: datetime) -> bool:
    """Accept a code of the app, once: of several requests that send it, only one succeeds."""
    held = two_factor_of(user)
    step = _step_of(held, code, now) if held else None
    if held is None or step is None:
        return False
    return bool(TwoFactor.objects.filter(pk=held.pk, last_used_step__lt=step).update(last_used_step=step, attempts=0))


@transaction.atomic
def use_code_or_recovery_code(*, user: User, code: str, now: datetime, by: Actor, agency: Agency | None = None) -> bool:
    """Accept a code of the app, or a recovery code; an e-mail tells the person that a recovery code was used."""
    if CODE.fullmatch(_without_blanks(code)):
        return use_code(user=user, code=code, now=now)
    if not has_two_factor(user) or not use_recovery_code(user=user, code=code, now=now):
        return False
    TwoFactor.objects.filter(user=user).update(attempts=0)
    left = codes_left(user)
    queue_mail(kind=Mail.Kind.RECOVERY_CODE_USED, user=user, context={"left": left}, agency=agency)
    _record(user, "two_factor.recovery_code_used", by)
    return True


def count_attempt(*, user: User, now: datetime, most: int = MOST_ATTEMPTS) -> int:
    """Count an attempt at a code; return the seconds to wait if it is over the account's limit, else 0.

    Refused attempts do not count further. The database counts, so that a stolen password is not enough while Redis is
    away.
    """
    with connection.cursor() as cursor:
        cursor.execute(COUNT_ATTEMPT, {"since": now - ATTEMPTS_WINDOW, "now": now, "user": user.pk, "most": most})
        row = cursor.fetchone()
    if row is None or row[0] <= most:
        return 0
    return max(1, -int(-(row[1] + ATTEMPTS_WINDOW - now).total_seconds() // 1))


@transaction.atomic
def replace_recovery_codes(
    *, user: User, code: str, now: datetime, by: Actor, agency: Agency | None = None
) -> list[str]:
    """Return ten new recovery codes for a code; the old codes no longer work. Raises `CodeIsWrong`."""
    if not use_code_or_recovery_code(user=user, code=code, now=now, by=by, agency=agency):
        raise CodeIsWrong
    _record(user, "two_factor.recovery_codes_made", by)
    return new_codes(user)


@transaction.atomic
def switch_two_factor_off(
    *, user: User, code: str, now: datetime, keep: str | None, by: Actor, agency: Agency | None = None
) -> None:
    """Switch two-factor off for a code; every other session of the person ends. Raises `CodeIsWrong`."""
    if not use_code_or_recovery_code(user=user, code=code, now=now, by=by, agency=agency):
        raise CodeIsWrong
    delete_two_factor(user)
    end_sessions(user=user, keep=keep)
    _tell(user, "two_factor.switched_off", "off", by, agency)


@transaction.atomic
def reset_two_factor(*, user: User, by: Actor) -> bool:
    """Remove two-factor from a person who has lost their app and their codes; all their sessions end.

    Returns whether there was anything to remove.
    """
    _lock(user)
    if not delete_two_factor(user):
        return False
    end_sessions(user=user)
    _tell(user, "two_factor.reset", "reset", by, only_agency_of(user))
    return True


def delete_two_factor(user: User) -> bool:
    """Delete key and codes; the caller is inside a transaction."""
    RecoveryCode.objects.filter(user=user).delete()
    deleted, _ = TwoFactor.objects.filter(user=user).delete()
    return bool(deleted)


def _lock(user: User) -> None:
    User.objects.select_for_update(no_key=True).get(pk=user.pk)


def _step_of(held: TwoFactor, code: str, now: datetime) -> int | None:
    """Return the time step that a code belongs to; None for a wrong code."""
    digits = _without_blanks(code)
    if not CODE.fullmatch(digits):
        return None
    try:
        return pyotp.TOTP(held.secret or "").verify_and_get_timecode(digits, for_time=now, valid_window=DRIFT)
    except OTPVerificationError:
        return None
    except UnreadableSecret:  # a recovery code works without the key
        logger.exception("two-factor key cannot be read", extra={"user": held.user_id})
        return None


def _without_blanks(code: str) -> str:
    return "".join(code.split())


def _tell(user: User, action: str, change: str, by: Actor, agency: Agency | None) -> None:
    """Queue the e-mail, in the name of the agency on whose host the change was made, and record the activity."""
    queue_mail(kind=Mail.Kind.TWO_FACTOR_CHANGED, user=user, context={"change": change}, agency=agency)
    _record(user, action, by)


def _record(user: User, action: str, by: Actor) -> None:
    record_activity(by=by, action=action, agency_id=None, target=("user", user.pk, user.email))
