"""Sends e-mails: one conversation at a time with each server, so that a slow server delays only its own e-mails.

One worker sends, and only its main thread queries the database, so that `limits` counts exactly. Only conversations
with SMTP servers are in threads: one with the installation's server, and a few with those of agencies.
"""

import logging
import time
from collections.abc import Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from django.core.mail import EmailMessage
from django.db import DatabaseError
from django.db.models import F

from agency.models import Mail, MailSettings
from agency.services.mail.content import agencys_host_in, confirmation_is_out_of_date, link_of, render_mail
from agency.services.mail.queue import (
    ATTEMPTS,
    InFlight,
    RoundRobin,
    agency_server_for,
    allowed_at,
    lease_next_mail,
    postpone_quota_group,
    recipient_limit_reached,
)
from agency.services.mail.settings import TEST_LASTS, record_test_mail
from agency.services.mail.transport import (
    CANNOT_BE_WRITTEN,
    NO_FAILURE,
    Failure,
    record_server_failure,
    record_server_success,
    rejects_all_recipients,
    send_by_installation,
    send_by_own_server,
)
from agency.services.passwords import answer_address_requests
from config.db import database_now
from config.smtp import SendProgress
from config.tries.counting import Try, begin_tries

logger = logging.getLogger(__name__)

KIND: Final = "e-mail"
LONGEST_WAIT = timedelta(hours=1)
# Conversations at once with agencies' own servers.
OWN_SERVERS_AT_ONCE: Final = 8
POLL_SECONDS: Final = 0.5
TURNS_BETWEEN_LOOKS: Final = 10
# Kept from run to run, so that agencies keep their turns.
turns: Final = RoundRobin()


class ConversationResult(NamedTuple):
    """The result of a conversation; without a failure the server has accepted the e-mail."""

    failure: Failure | None
    conversation: SendProgress


@dataclass(frozen=True, slots=True)
class PreparedMail:
    """A leased and written e-mail, with the server that takes it: None for the installation's."""

    mail: Mail
    begun: Try
    message: EmailMessage
    server: MailSettings | None
    link_host: str

    def converse(self) -> ConversationResult:
        """Give the e-mail to the server, without any query."""
        if self.server is None:
            return ConversationResult(*send_by_installation(self.message))
        return ConversationResult(*send_by_own_server(self.message, self.server))


@dataclass(slots=True)
class ActiveConversations:
    """The conversations that are under way."""

    pool: ThreadPoolExecutor
    conversations: "dict[Future[ConversationResult], PreparedMail]" = field(default_factory=dict)
    turns: int = 0

    def busy(self, *, may_begin_own: bool) -> InFlight:
        own = [out.mail.agency_id for out in self.conversations.values() if out.server]
        is_full = not may_begin_own or len(own) >= OWN_SERVERS_AT_ONCE
        return InFlight(
            installation=any(out.server is None for out in self.conversations.values()),
            agencies=None if is_full else [pk for pk in own if pk],
            recipients=[out.mail.recipient for out in self.conversations.values()],
        )

    @property
    def is_with_agencies(self) -> bool:
        return any(out.server for out in self.conversations.values())

    def look_for_address_requests(self) -> None:
        """Queue the e-mails that were asked for meanwhile, at the first turn and each tenth; no turn takes long."""
        if self.turns % TURNS_BETWEEN_LOOKS == 0:
            answer_address_requests()
        self.turns += 1

    def in_flight_for(self, agency_id: int | None) -> list[str]:
        return [out.mail.kind for out in self.conversations.values() if out.mail.agency_id == agency_id]

    def begin(self, outgoing: PreparedMail) -> None:
        self.conversations[self.pool.submit(outgoing.converse)] = outgoing

    def finish(self) -> None:
        """Wait for all conversations under way, and record their results."""
        while self.conversations:
            self.record_finished(timeout=None)

    def record_finished(self, *, timeout: float | None) -> None:
        """Wait for a conversation to end, at most `timeout` seconds, and record the results of those that have.

        A result that cannot be recorded keeps no other from being recorded.
        """
        with ExitStack() as rest:
            for ended in wait(self.conversations, timeout, FIRST_COMPLETED).done:
                rest.callback(_record_ended, self.conversations.pop(ended), ended)


def _record_ended(outgoing: PreparedMail, ended: "Future[ConversationResult]") -> None:
    record_result(outgoing, ended.result(), database_now())


def send_due_mails(*, seconds: float) -> None:
    """Send every e-mail that is due by the database's clock, beginning new conversations for `seconds`.

    After that the installation's server gets further e-mails only while a conversation with an agency's server goes on;
    such a conversation has its own time limit.
    """
    until = time.monotonic() + seconds
    with ThreadPoolExecutor(OWN_SERVERS_AT_ONCE + 1, thread_name_prefix="smtp") as pool:
        running = ActiveConversations(pool)
        try:
            while _take_turn(running, until):
                pass
        finally:  # however the run ends, no e-mail under way may be sent twice
            running.finish()


def _take_turn(running: ActiveConversations, until: float) -> bool:
    """Begin the next e-mail, or wait for one under way; return whether there may be more to do."""
    left = until - time.monotonic()
    running.look_for_address_requests()
    now = database_now()
    may_take = left > 0 or running.is_with_agencies
    mail = lease_next_mail(now=now, busy=running.busy(may_begin_own=left > 0), turns=turns) if may_take else None
    if mail is not None:
        _begin(running, mail, now)
        return True
    if running.conversations:
        running.record_finished(timeout=POLL_SECONDS)
        return True
    return False


def send_next_mail() -> bool:
    """Send the next e-mail that is due by the database's clock; return False if there is none."""
    answer_address_requests()
    mail = lease_next_mail(now=database_now())
    if mail is not None:
        send_due_mail(mail=mail, now=database_now())
    return mail is not None


def send_due_mail(*, mail: Mail, now: datetime) -> bool:
    """Send one leased e-mail and wait for it; return whether it was sent."""
    outgoing = prepare_mail(mail, now, begun=_begin_try(mail))
    if outgoing is None:
        return False
    ended = outgoing.converse()
    record_result(outgoing, ended, now)
    return ended.failure is None


def _begin_try(mail: Mail) -> Try:
    """Count the try of a leased e-mail before it begins, even if this process dies; `attempts` are those at servers."""
    return begin_tries(kind=KIND, keys=[mail.pk])[str(mail.pk)]


def prepare_mail(mail: Mail, now: datetime, *, begun: Try, in_flight: Iterable[str] = ()) -> PreparedMail | None:
    """Write a leased e-mail if it may be sent now; an e-mail that killed its process too often is given up."""
    if begun.comes_too_often or mail.attempts > ATTEMPTS:
        _give_up(mail, Failure(Mail.Failure.INTERRUPTED), now)
        begun.set_aside()
        return None
    outgoing = _prepare(mail, now, begun, in_flight)
    if outgoing is None:
        begun.end()
    return outgoing


def _prepare(mail: Mail, now: datetime, begun: Try, in_flight: Iterable[str]) -> PreparedMail | None:
    """Write a leased e-mail if it may be sent now; else give it up, or put it back.

    An e-mail that is out of date, or beyond its recipient's limit, is given up unsent. An e-mail beyond its agency's
    hourly limit waits. `in_flight` are the kinds of the agency's e-mails that are being sent.
    """
    if _is_out_of_date(mail, now):
        Mail.objects.filter(pk=mail.pk).update(given_up_at=now, **NO_FAILURE)
        logger.info("mail withheld", extra={"mail": mail.pk, "kind": mail.kind})
        return None
    if recipient_limit_reached(mail, now):
        _give_up(mail, Failure(Mail.Failure.TOO_MANY), now)
        logger.info("mail withheld", extra={"mail": mail.pk, "kind": mail.kind})
        return None
    room = allowed_at(mail, now, in_flight=in_flight)
    if room > now:
        _put_back(mail, room)
        postpone_quota_group(mail, room, now)
        return None
    server = agency_server_for(mail, now)
    try:
        link = link_of(mail)
        return PreparedMail(mail, begun, render_mail(mail, link=link, own=server), server, agencys_host_in(link))
    except DatabaseError:  # not the fault of this e-mail
        raise
    except Exception:
        logger.exception("mail cannot be written", extra={"mail": mail.pk, "kind": mail.kind})
        _give_up(mail, CANNOT_BE_WRITTEN, now)
        return None


def record_result(outgoing: PreparedMail, ended: ConversationResult, now: datetime) -> None:
    """Record the result of a conversation: sent, to be tried again, or given up."""
    _record(outgoing, ended, now)
    outgoing.begun.end()


def _record(outgoing: PreparedMail, ended: ConversationResult, now: datetime) -> None:
    mail, server, failure = outgoing.mail, outgoing.server, ended.failure
    if mail.kind == Mail.Kind.TEST:
        record_test_mail(mail=mail, server=server, failure=failure, steps=ended.conversation.steps, now=now)
        return
    rows = Mail.objects.filter(pk=mail.pk)
    if failure is None:
        rows.update(sent_at=now, by_own_server=server is not None, link_host=outgoing.link_host, **NO_FAILURE)
        if server is not None:
            record_server_success(server)
        return
    if server is not None and rejects_all_recipients(server, mail, failure):
        failure = replace(failure, is_of_server=True, is_final=False)
    stands_in = server is not None and failure.is_of_server and record_server_failure(server, failure, now)
    # A server that gave no answer may have accepted the e-mail: twice is enough.
    is_second_silence = failure.kind == mail.failure == Mail.Failure.UNANSWERED
    is_given_up = failure.is_final or is_second_silence or mail.attempts >= ATTEMPTS
    rows.update(
        next_attempt_at=now if stands_in else now + min(timedelta(seconds=10 * 2**mail.attempts), LONGEST_WAIT),
        given_up_at=now if is_given_up else None,
        by_own_server=server is not None,
        failed_at=now,
        **failure.columns(),
    )
    extra = {"mail": mail.pk, "attempt": mail.attempts, "reason": failure.kind.value, "code": failure.code}
    logger.warning("mail not sent", extra={**extra, "step": failure.step, "own_server": server is not None})


def _begin(running: ActiveConversations, mail: Mail, now: datetime) -> None:
    begun = _begin_try(mail)
    if begun.is_another:
        running.finish()  # an e-mail that died before must not take others with it
    outgoing = prepare_mail(mail, now, begun=begun, in_flight=running.in_flight_for(mail.agency_id))
    if outgoing is None:
        return
    if outgoing.server is None and running.busy(may_begin_own=True).installation:
        # The settings have changed since the lease, so the e-mail waits for its turn.
        _put_back(mail, now)
        begun.end()
        return
    running.begin(outgoing)
    if begun.is_another:
        running.finish()


def _give_up(mail: Mail, failure: Failure, now: datetime) -> None:
    if mail.kind == Mail.Kind.TEST:
        record_test_mail(mail=mail, server=None, failure=failure, steps=(), now=now)
        return
    Mail.objects.filter(pk=mail.pk).update(given_up_at=now, failed_at=now, **failure.columns())


def _put_back(mail: Mail, due_at: datetime) -> None:
    Mail.objects.filter(pk=mail.pk).update(next_attempt_at=due_at, attempts=F("attempts") - 1)


def _is_out_of_date(mail: Mail, now: datetime) -> bool:
    """Return whether what an e-mail asks for has been done, or can no longer be done."""
    if mail.invitation:
        return not mail.invitation.is_open or mail.invitation.expires_at <= now
    if mail.kind == Mail.Kind.TEST:
        return mail.created_at <= now - TEST_LASTS
    if mail.kind == Mail.Kind.SIGN_UP_CONFIRMATION:
        return confirmation_is_out_of_date(mail, now)
    return mail.kind == Mail.Kind.OWNER_INVITATION and bool(mail.user and mail.user.has_usable_password())
