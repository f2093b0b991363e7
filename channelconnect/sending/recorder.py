"""The thread that records messages' results in batches, with the effects of errors on channels and people."""

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from time import monotonic
from typing import Final

import psycopg
from django.db import connection as project

from agency.actors import SYSTEM
from channelconnect.providers.message_results import CallResult, Outcome, as_message_refusal
from channelconnect.providers.messages import READ
from channelconnect.sending.sources import (
    ClaimedMessage,
    MessageResult,
    MessageSource,
    prepare_session,
    project_transaction,
)
from channelconnect.sending.uploads import forget_lost_files
from channelconnect.services.accounts import checked_lately, request_access_checks
from config.db import database_now
from config.leases.connections import Connection
from config.leases.recorder import Recorder
from config.metrics import count, observe
from workspaces.contacts.services.opt_outs import MarketingChoice, apply_marketing_choices
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import mark_channel_lost

SOON_SECONDS: Final = 1.0


def apply_error_effects(results: Sequence[MessageResult]) -> Sequence[MessageResult]:
    """Mark channels lost and people opted out of marketing. Doing it again changes nothing.

    Returns the results as they are after that. A refusal of an access that was replaced since is tried with the new
    access. A result that doubted a good access is the fault of its message.
    """
    lost = {one.row.channel_id for one in results if one.outcome.result is CallResult.RECONNECT}
    doubted = {one.row.channel_id for one in results if _casts_doubt(one)}
    unwilling = {one.row.contact_id for one in results if one.outcome.error is not None and one.outcome.error.opts_out}
    if not (lost or doubted or unwilling):
        return results
    with project_transaction():
        now = database_now()
        channels = _locked(lost | doubted)
        drawn = [_retry_with_new_access(one) if _is_outdated(one, channels) else one for one in results]
        for one in drawn:
            if one.outcome.result is CallResult.RECONNECT and one.row.channel_id in channels:
                reason = f"send_refused_{_code(one)}"
                mark_channel_lost(channel=channels[one.row.channel_id], reason=reason, now=now, by=SYSTEM)
        drawn = _judge_doubts(drawn, now)
        apply_marketing_choices(choices=[MarketingChoice(pk, now) for pk in unwilling if pk is not None], now=now)
    return drawn


def _locked(channels: Collection[int]) -> dict[int, Channel]:
    """Lock channels, so that nobody connects them again until these results are recorded."""
    rows = Channel.objects.filter(pk__in=channels).select_related("workspace").order_by("pk")
    return {channel.pk: channel for channel in rows.select_for_update(of=("self",), no_key=True)}


def _is_outdated(one: MessageResult, channels: Mapping[int, Channel]) -> bool:
    """Whether an answer concerns an access that has been replaced since."""
    channel = channels.get(one.row.channel_id)
    if channel is None or one.connected_at in (None, channel.connected_at):
        return False
    is_about_access = one.outcome.result is CallResult.RECONNECT or _casts_doubt(one)
    return is_about_access and channel.status == Channel.Status.ACTIVE


def _retry_with_new_access(one: MessageResult) -> MessageResult:
    return one._replace(outcome=one.outcome._replace(result=CallResult.RETRY, error=None), wait_seconds=SOON_SECONDS)


def _judge_doubts(results: Sequence[MessageResult], now: datetime) -> list[MessageResult]:
    """Request checks of doubted accesses, unless the provider confirmed them recently."""
    doubted = {one.row.channel_id for one in results if _casts_doubt(one)}
    if not doubted:
        return list(results)
    good = checked_lately(doubted, now=now)
    request_access_checks(doubted - good, now=now)
    return [_refused(one) if _casts_doubt(one) and one.row.channel_id in good else one for one in results]


def _casts_doubt(one: MessageResult) -> bool:
    error = one.outcome.error
    return one.outcome.result is CallResult.RETRY and error is not None and error.doubts_access


def _refused(one: MessageResult) -> MessageResult:
    error = as_message_refusal(one.outcome.error) if one.outcome.error else None
    return one._replace(outcome=one.outcome._replace(result=CallResult.REFUSED, error=error), wait_seconds=0.0)


def _code(one: MessageResult) -> str:
    return one.outcome.error.code if one.outcome.error else ""


logger = logging.getLogger(__name__)


class MessageRecorder(Recorder[MessageResult, ClaimedMessage, ClaimedMessage]):
    """Passes results to their sources, and applies their effects on channels and people."""

    name = "sender recorder"

    def __init__(self, run: int, sources: Mapping[str, MessageSource], look_again: Callable[[], None]) -> None:
        super().__init__(run)
        self._sources = sources
        self._look_again = look_again

    def on_connect(self, connection: Connection) -> None:
        prepare_session(connection)

    def _disconnect(self) -> None:
        super()._disconnect()
        project.close()

    def record(self, connection: Connection, results: Sequence[MessageResult]) -> int:
        began = monotonic()
        # This comes before the results, because a recorded message is not looked at again. Doing it twice changes
        # nothing.
        forget_lost_files(results)
        results = apply_error_effects(results)
        by_source: dict[str, list[MessageResult]] = defaultdict(list)
        for one in results:
            by_source[one.row.source].append(one)
        recorded = sum(
            self._sources[name].record(connection, run=self.run, results=ones) for name, ones in by_source.items()
        )
        observe("sender_record_seconds", monotonic() - began)
        for result, messages in Counter(_results_of_messages(results)).items():
            count("messages_sent_total", messages, result.value)
        if any(self._sources[name].keeps_order for name in by_source):
            self._look_again()  # the conversation's next message may be sent now
        return recorded

    def reject(self, connection: Connection, result: MessageResult, fault: psycopg.Error) -> None:
        """Record an accepted message without an id that cannot be stored; any other result becomes unknown."""
        logger.error("a result cannot be recorded", extra={"row": result.row.id, "fault": type(fault).__name__})
        outcome = result.outcome
        bare = Outcome(outcome.result) if outcome.result is CallResult.ACCEPTED else Outcome(CallResult.UNKNOWN)
        try:
            source = self._sources[result.row.source]
            source.record(connection, run=self.run, results=[result._replace(outcome=bare)])
        except (psycopg.DataError, psycopg.IntegrityError):
            logger.exception("a message stays claimed until it is taken for unknown")

    def give_back(self, connection: Connection, unused: Sequence[ClaimedMessage]) -> None:
        for name in {row.source for row in unused}:
            ids = [row.id for row in unused if row.source == name]
            self._sources[name].give_back(connection, run=self.run, ids=ids)

    def abandon(self, connection: Connection, unwanted: Sequence[ClaimedMessage]) -> None:
        """Do nothing: every message that ends has a result."""


def _results_of_messages(results: Iterable[MessageResult]) -> Iterator[CallResult]:
    return (one.outcome.result for one in results if one.row.message.type != READ)
