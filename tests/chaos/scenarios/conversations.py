"""Messages of conversations whose calls are answered as not taken although they were: what is reported is sent once."""

import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import connection

from tests.chaos.scenarios.broadcasts import SENDERS, KilledBroadcast, PlayedBroadcast, PlayedKills
from tests.chaos.system.system import System

# Answered with a wait of a quarter of an hour, so that the network's reports are there long before the next try. It is
# the whole account's, so nothing more is called then until its brake is taken off.
REFUSED_THOUGH_TAKEN = ({"call": "send", "fault": "accept_then_throttled_for_long", "every": 4},)


@dataclass(frozen=True, kw_only=True)
class MisledConversations(KilledBroadcast):
    """So many messages; every fourth is answered as not taken though it was, and a sender is killed meanwhile."""

    faults: tuple[Mapping[str, Any], ...] = REFUSED_THOUGH_TAKEN

    def played_on(self, system: System, rng: random.Random) -> PlayedBroadcast:
        return _Misled(self, system, rng)


class _Misled(PlayedKills):
    def fill(self) -> None:
        """Two numbers with conversations of one message each."""
        from tests.channelconnect.sending.messages import NUMBERS, a_channel, many_conversations, many_messages
        from tests.factories import WorkspaceFactory

        self.sandbox.play(faults=list(self.scenario.faults), statuses=self.scenario.statuses, status_seconds=0.1)
        workspace = WorkspaceFactory.create()
        for number in NUMBERS:
            channel = a_channel(workspace, self.sandbox, external_id=number)
            many_messages(many_conversations(channel, self.scenario.recipients // len(NUMBERS)))

    def waiting(self) -> int:
        """How many wait for their first call, or are out."""
        from workspaces.conversations.models import QueuedMessage

        return QueuedMessage.objects.filter(tries=0, is_unknown=False).count()

    def let_end(self) -> None:
        """Wait until all that was accepted is reported, then let the rest go, and what waits be due.

        Whom none tells of has failed.
        """
        from workspaces.conversations.models import Message, QueuedMessage

        while self._is_out() or self._unreported():
            self.system.processes.look_after()
            time.sleep(0.1)
        misled = QueuedMessage.objects.filter(tries__gt=0).count()
        unknown = Message.objects.filter(status="pending", queued__is_unknown=True).count()
        self.outcome.notes.append(f"{misled} wait though they were taken, {unknown} nobody knew of")
        self._take_brake_off()
        while QueuedMessage.objects.exists():
            self.system.processes.look_after()
            time.sleep(0.1)

    def _is_out(self) -> bool:
        from workspaces.conversations.models import QueuedMessage

        return QueuedMessage.objects.filter(run__isnull=False, is_unknown=False).exists()

    def _take_brake_off(self) -> None:
        """As after the quarter of an hour: senders that begin anew know of no brake but what is written down."""
        from channelconnect.models import ProviderBrake

        self.sandbox.play(statuses=self.scenario.statuses, status_seconds=0.1)
        self.system.processes.take_down(*SENDERS)
        ProviderBrake.objects.all().delete()
        with connection.cursor() as cursor:
            cursor.execute("UPDATE conversations_queuedmessage SET due_at = now() WHERE NOT is_ready")
        self.system.processes.start(*SENDERS)

    def _unreported(self) -> bool:
        """Whether the provider has taken messages of which it has not told yet."""
        from workspaces.conversations.models import Message

        accepted = self.sandbox.ledger()["sent_by_opaque"].keys()
        return Message.objects.filter(status="pending", uuid__in=list(accepted)).exists()

    def count(self) -> None:
        """Hold the provider's ledger against the messages."""
        from workspaces.conversations.models import Message

        accepted: dict[str, int] = self.sandbox.ledger()["sent_by_opaque"]
        rows = {str(uuid): (status, code) for uuid, status, code in Message.objects.values_list(*COLUMNS)}
        self.outcome.deliveries = sum(accepted.values())
        self.outcome.duplicates = self.outcome.inexcusable = sum(number - 1 for number in accepted.values())
        self.outcome.foreign = len(accepted.keys() - rows.keys())
        self.outcome.lost = sum(status == "pending" for status, _ in rows.values())
        if {code for status, code in rows.values() if status == "failed"} - {"send_outcome_unknown"}:
            self.outcome.wrong.append("some failed for another reason")
        if [key for key, (status, _) in rows.items() if status not in ("failed", "pending") and key not in accepted]:
            self.outcome.wrong.append("some count as sent that never were")


COLUMNS = ("uuid", "status", "error_code")
MISLED = MisledConversations(kills=1, recipients=400, seconds=200, crash=False)
