"""People who ask to be left alone, and whose older wish to be written to is read after that: the newer one counts."""

import random
import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from tests.chaos.scenarios.broadcasts import BroadcastScenario, PlayedBroadcast
from tests.chaos.system.system import System

# By the network's time the wish to be written to is the older one.
STARTED, STOPPED = "1790000000", "1790000600"
EACH_BODY = 10


@dataclass(frozen=True, kw_only=True)
class OvertakenWords(BroadcastScenario):
    """So many people; the reader of the inbox is killed while their older wishes come in."""

    @property
    def planned(self) -> int:
        return 1

    def played_on(self, system: System, rng: random.Random) -> PlayedBroadcast:
        return _Overtaken(self, system, rng)


class _Overtaken(PlayedBroadcast):
    def fill(self) -> None:
        from tests.channelconnect.sending.messages import NUMBERS, a_channel
        from tests.factories import WorkspaceFactory

        a_channel(WorkspaceFactory.create(), self.sandbox, external_id=NUMBERS[0])

    def play(self, variables: Mapping[str, str], stack: ExitStack) -> None:
        self.begin(variables)
        people = [f"49171{number:07d}" for number in range(self.scenario.recipients)]
        self._write(people, "STOP", STOPPED)
        self._wait_until_read()
        self._write(people[::2], "START", STARTED)
        self.outcome.injected += self.system.processes.kill("reader")
        self._write(people[1::2], "START", STARTED)
        self._wait_until_read()
        self.count()

    def _write(self, people: Iterable[str], text: str, at: str) -> None:
        from tests.channelconnect.inbox.notices import message, of_number
        from tests.channelconnect.sending.messages import NUMBERS

        told = [message(id=f"wamid.{text}{one}", timestamp=at, type="text", text={"body": text}) for one in people]
        told = [{**one, "from": one["id"].removeprefix(f"wamid.{text}")} for one in told]
        for first in range(0, len(told), EACH_BODY):
            body = of_number(number=NUMBERS[0], messages=told[first : first + EACH_BODY])
            self.sandbox.callback(kind="raw", raw=body.decode())

    def _wait_until_read(self) -> None:
        from channelconnect.models import ProviderNotice

        while ProviderNotice.objects.filter(read_at=None).exists():
            self.system.processes.look_after()
            time.sleep(0.1)

    def count(self) -> None:
        """Everybody's last word was to be left alone."""
        from workspaces.contacts.models import Contact
        from workspaces.conversations.models import Message

        self.outcome.deliveries = Message.objects.filter(direction="in").count()
        self.outcome.lost = self.scenario.recipients - Contact.objects.filter(opted_out_at__isnull=False).count()
        if self.outcome.deliveries != 2 * self.scenario.recipients:
            self.outcome.wrong.append("not everything that people wrote is there")


OVERTAKEN = OvertakenWords(recipients=100, seconds=120)
