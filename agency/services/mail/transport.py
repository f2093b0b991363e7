"""One conversation with an SMTP server: the installation's, or one that an agency has named."""

import logging
from contextlib import suppress
from email.utils import parseaddr
from functools import lru_cache
from typing import Final

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend

from agency.models import Mail, MailSettings
from agency.services.mail.failures import CANNOT_BE_WRITTEN, Failure, failure_of
from config.encryption import UnreadableSecret
from config.errors import InvalidInput
from config.http.guard import URLRefused, VettedTarget, check_target, parse_host
from config.http.resolver import LookupFailed, Resolver
from config.smtp import CONVERSATION_SECONDS, PinnedEmailBackend, SendProgress, Step

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


def vet_server(host: str, port: int) -> VettedTarget:
    """Look a server's name up and check all its addresses, as for a webhook. Raises `URLRefused`, `LookupFailed`.

    It must not be called inside a transaction, as it looks names up.
    """
    return check_target(parse_host(host, port), allowed=settings.WEBHOOK_ALLOWED_NETWORKS, resolve=resolver().resolve)


def require_reachable(host: str, port: int) -> str:
    """Return the canonical spelling of a server's name. Raises `ServerRefused`.

    It must not be called inside a transaction, as it looks the name up.
    """
    try:
        return vet_server(host, port).target.host
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
    vetted = vet_server(server.host, server.port or 0)
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
