"""What a failed attempt means: one word for people, with the step and the server's own answer."""

import re
import smtplib
import socket
import ssl
from collections.abc import Iterable
from dataclasses import dataclass

from agency.models import Mail
from config.http.guard import URLRefused
from config.http.resolver import LookupFailed
from config.smtp import SendProgress, Step

Kind = Mail.Failure
LONGEST_TEXT = 300
UNSEEN = re.compile(r"[\x00-\x20\x7f-\xa0\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]+")
# Codes with which servers ask for (other) credentials, at any step.
OF_SIGN_IN = frozenset({530, 534, 535, 538})
# Steps at which the server's answer is about one e-mail and not about all.
OF_ONE_MAIL = frozenset({Step.RECIPIENT, Step.CONTENT})
BY_STEP = {
    Step.TLS: Kind.TLS,
    Step.SIGN_IN: Kind.SIGN_IN,
    Step.SENDER: Kind.SENDER,
    Step.RECIPIENT: Kind.RECIPIENT,
    Step.CONTENT: Kind.CONTENT,
}


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an attempt failed.

    `is_final` says that the same e-mail would be refused again, `is_of_server` that any other would have failed as
    well.
    """

    kind: Mail.Failure
    step: Step | None = None
    code: int | None = None
    text: str = ""
    is_final: bool = False
    is_of_server: bool = True

    def columns(self) -> dict[str, object]:
        """Return the columns that a row keeps of it, besides the time."""
        return {
            "failure": self.kind,
            "failure_step": self.step or "",
            "failure_code": self.code,
            "failure_text": self.text,
        }


CANNOT_BE_WRITTEN = Failure(Kind.UNWRITTEN, is_final=True, is_of_server=False)
NO_FAILURE: dict[str, object] = {
    "failure": "",
    "failure_step": "",
    "failure_code": None,
    "failure_text": "",
    "failed_at": None,
}


def failure_of(error: Exception, conversation: SendProgress, *, unsaid: Iterable[str] = ()) -> Failure:
    """Return what an exception of the conversation means; `unsaid` are texts to leave out of the server's answer."""
    step = conversation.steps[-1] if conversation.steps else None
    code, said = _answer_of(error)
    text = _cleaned(said, unsaid)
    if code is not None:
        return _of_answer(code, step, text)
    if step == Step.CONTENT:
        return Failure(Kind.UNANSWERED, step, None, text, is_of_server=False)
    kind = _kind_of(error, step, is_over=conversation.seconds_left <= 0)
    return Failure(kind, step, None, text)


def _of_answer(code: int, step: Step | None, text: str) -> Failure:
    if code in OF_SIGN_IN:
        return Failure(Kind.SIGN_IN, step, code, text)
    is_of_server = step not in OF_ONE_MAIL
    if code < 500:
        return Failure(Kind.LATER, step, code, text, is_of_server=is_of_server)
    kind = BY_STEP.get(step, Kind.REFUSED) if step else Kind.REFUSED
    return Failure(kind, step, code, text, is_final=not is_of_server, is_of_server=is_of_server)


def _answer_of(error: Exception) -> tuple[int | None, str | bytes]:
    """Return the code and the text of a server's answer, or the exception's own text."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        code, said = next(iter(error.recipients.values()))
        return code, said
    if isinstance(error, smtplib.SMTPResponseException) and error.smtp_code >= 200:
        return error.smtp_code, error.smtp_error
    if isinstance(error, ssl.SSLCertVerificationError):
        return None, error.verify_message
    if isinstance(error, OSError) and error.strerror:
        return None, error.strerror
    return None, str(error)


def _kind_of(error: Exception, step: Step | None, *, is_over: bool) -> Mail.Failure:
    if isinstance(error, URLRefused):
        return Kind.BLOCKED
    if isinstance(error, LookupFailed | socket.gaierror):
        return Kind.NAME
    if isinstance(error, ssl.SSLError):
        return Kind.TLS
    if isinstance(error, TimeoutError) or is_over:
        return Kind.TIMEOUT
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return Kind.TLS if step == Step.TLS else Kind.SIGN_IN
    if isinstance(error, smtplib.SMTPException):
        return Kind.TIMEOUT if "timed out" in str(error) else Kind.CLOSED
    return Kind.UNREACHABLE


def _cleaned(said: str | bytes, unsaid: Iterable[str]) -> str:
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    for secret in filter(None, unsaid):
        text = text.replace(secret, "…")
    return UNSEEN.sub(" ", text).strip()[:LONGEST_TEXT]
