"""One conversation with an SMTP server: the installation's, or an agency's own, and what its failures mean."""

import logging
import re
import smtplib
import socket
import ssl
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parseaddr
from functools import lru_cache
from typing import Final

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db.models import F

from agency.models import Mail, MailSettings
from config.encryption import UnreadableSecret
from config.errors import InvalidInput
from config.http.guard import URLRefused, VettedTarget, check_target, parse_host
from config.http.resolver import LookupFailed, Resolver
from config.smtp import CONVERSATION_SECONDS, PinnedEmailBackend, SendProgress, Step

Kind = Mail.Failure
LONGEST_TEXT = 300
INVISIBLE_CHARACTERS = re.compile(r"[\x00-\x20\x7f-\xa0\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]+")
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
    return INVISIBLE_CHARACTERS.sub(" ", text).strip()[:LONGEST_TEXT]


logger = logging.getLogger(__name__)

# The time that an agency's own server gets for one e-mail, and for each silence within. The look-up of its name takes
# up to two seconds more.
OWN_SECONDS: Final = 20.0
OWN_SILENCE_SECONDS: Final = 10.0


class ServerRefused(InvalidInput):
    field = "host"
    message = "The server must be publicly reachable."


@lru_cache(maxsize=1)
def resolver() -> Resolver:
    """Return the process's pool of name look-ups; its threads start with the first look-up, after any fork."""
    return Resolver()


def resolve_and_check_server(host: str, port: int) -> VettedTarget:
    """Look a server's name up and check all its addresses, as for a webhook. Raises `URLRefused`, `LookupFailed`.

    It must not be called inside a transaction, as it looks names up.
    """
    return check_target(parse_host(host, port), allowed=settings.WEBHOOK_ALLOWED_NETWORKS, resolve=resolver().resolve)


def require_reachable(host: str, port: int) -> str:
    """Return the canonical spelling of a server's name. Raises `ServerRefused`.

    It must not be called inside a transaction, as it looks the name up.
    """
    try:
        return resolve_and_check_server(host, port).target.host
    except URLRefused as refusal:
        raise ServerRefused(str(refusal).replace("The URL's host", "The server")) from refusal
    except LookupFailed as failure:
        raise ServerRefused("The server's name could not be looked up. Try again in a moment.") from failure


def installation_address() -> str:
    """Return the sender's address of e-mails that the installation's server sends."""
    return parseaddr(settings.DEFAULT_FROM_EMAIL)[1]


def send_by_installation(message: EmailMessage) -> tuple[Failure | None, SendProgress]:
    """Give an e-mail to the installation's server; return what failed, and how far the conversation came."""
    backend = get_connection()
    try:
        _send(message, backend)
    except OSError as error:  # every failure of smtplib and of the socket below it
        conversation = _conversation_of(backend)
        return failure_of(error, conversation, unsaid=[*message.to, settings.EMAIL_HOST_PASSWORD]), conversation
    except Exception as error:  # noqa: BLE001 - nothing of a server's, such as an address that is none
        _log(error)
        return CANNOT_BE_WRITTEN, _conversation_of(backend)
    return None, _conversation_of(backend)


def send_by_own_server(message: EmailMessage, server: MailSettings) -> tuple[Failure | None, SendProgress]:
    """Give an e-mail to an agency's own server, at the very address that has just been checked."""
    conversation = SendProgress(seconds=OWN_SECONDS)
    conversation.begin(Step.LOOKUP)
    try:
        _send(message, _backend_for(server, conversation))
    except UnreadableSecret:
        return Failure(Mail.Failure.UNREADABLE), conversation
    except (OSError, URLRefused, LookupFailed) as error:
        return failure_of(error, conversation, unsaid=[*message.to, server.password or ""]), conversation
    except Exception as error:  # noqa: BLE001 - as above
        _log(error)
        return CANNOT_BE_WRITTEN, conversation
    return None, conversation


def _log(error: Exception) -> None:
    """Log the kind of the error without its text, which may hold an address."""
    logger.error("mail cannot be sent", extra={"fault": type(error).__name__})


def _send(message: EmailMessage, backend: BaseEmailBackend) -> None:
    """Send, and close a connection too that broke before it was Django's."""
    message.connection = backend
    try:
        message.send()
    finally:
        with suppress(OSError):
            backend.close()


def _backend_for(server: MailSettings, conversation: SendProgress) -> BaseEmailBackend:
    password = server.password or ""
    vetted = resolve_and_check_server(server.host, server.port or 0)
    conversation.addresses = vetted.addresses
    is_tls = server.security == MailSettings.Security.TLS
    return PinnedEmailBackend(
        host=vetted.target.host,
        port=server.port,
        username=server.username,
        password=password,
        use_ssl=is_tls,
        use_tls=not is_tls,
        timeout=OWN_SILENCE_SECONDS,
        conversation=conversation,
    )


def _conversation_of(backend: object) -> SendProgress:
    found = getattr(backend, "conversation", None)
    return found if isinstance(found, SendProgress) else SendProgress(seconds=CONVERSATION_SECONDS)


FAILURES_BEFORE_REST: Final = 3
REFUSED_BEFORE_FAILURE: Final = 3
MOST_LOOKED_AT: Final = 20
OF_POLICY = re.compile(r"5\.7\.\d+\b")
REST: Final = timedelta(minutes=15)


def rejects_all_recipients(server: MailSettings, mail: Mail, failure: Failure) -> bool:
    """Return whether an agency's server that refuses a recipient refuses all: it says so, or this is the third one.

    It says so with a status of policy (5.7.x, RFC 3463). Otherwise three recipients count that were refused for good
    since the last e-mail that the server accepted.
    """
    if failure.kind != Mail.Failure.RECIPIENT:
        return False
    if OF_POLICY.match(failure.text):
        return True
    own = Mail.objects.filter(agency=server.agency_id, by_own_server=True)
    since = own.filter(sent_at__gt=server.verified_at).order_by("-sent_at").values_list("sent_at", flat=True).first()
    refused = own.filter(sent_at=None, failure=failure.kind, failed_at__gt=since or server.verified_at)
    others = refused.exclude(recipient=mail.recipient).order_by("-failed_at").values_list("recipient", flat=True)
    return len(set(others[:MOST_LOOKED_AT])) >= REFUSED_BEFORE_FAILURE - 1


def record_server_failure(server: MailSettings, failure: Failure, now: datetime) -> bool:
    """Count a failure that would have met any other e-mail too; return whether the server rests from now on.

    A failure of settings that were changed meanwhile is not counted.
    """
    rows = MailSettings.objects.filter(pk=server.pk, verified_at=server.verified_at)
    if not rows.update(failures=F("failures") + 1, failed_at=now, **failure.columns()):
        return False
    return bool(rows.filter(failures__gte=FAILURES_BEFORE_REST).update(resting_until=now + REST))


def record_server_success(server: MailSettings) -> None:
    """Reset the failures of a server that accepts e-mails again."""
    if server.failures:
        MailSettings.objects.filter(pk=server.pk, verified_at=server.verified_at).update(
            failures=0, resting_until=None, **NO_FAILURE
        )
