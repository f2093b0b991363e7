"""People who use two-factor, and the codes that their apps show."""

import base64
import hashlib
import hmac
import struct
from datetime import datetime, timedelta

from agency.actors import SYSTEM
from agency.models import User
from agency.services.two_factor import begin_two_factor, confirm_two_factor
from config.db import database_now

STEP = 30


def code_at(secret: str, moment: datetime) -> str:
    """What RFC 6238 says that an app with this key shows at a moment, written down once more from the RFC."""
    key = base64.b32decode(secret)
    digest = hmac.digest(key, struct.pack(">Q", int(moment.timestamp()) // STEP), hashlib.sha1)
    offset = digest[-1] & 0xF
    number = struct.unpack(">I", digest[offset : offset + 4])[0] & 0x7FFFFFFF
    return f"{number % 10**6:06}"


class App:
    """An authenticator app; `codes` are the recovery codes that were shown with its key."""

    def __init__(self, secret: str, codes: list[str]) -> None:
        self.secret, self.codes = secret, codes

    def code(self, *, steps: int = 0) -> str:
        """What it shows now by the database's clock, or so many steps later."""
        return code_at(self.secret, database_now() + timedelta(seconds=steps * STEP))

    def wrong_code(self) -> str:
        near = {self.code(steps=steps) for steps in range(-3, 4)}
        return next(code for number in range(10) if (code := f"{number:06}") not in near)


def an_app(user: User) -> App:
    """Switch two-factor on for a person, with a code of five minutes ago."""
    then = database_now() - timedelta(minutes=5)
    secret = begin_two_factor(user=user, now=then).secret or ""
    codes = confirm_two_factor(user=user, code=code_at(secret, then), now=then, keep=None, by=SYSTEM)
    return App(secret, codes)
