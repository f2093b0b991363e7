"""The four walks of docs/architecture.md list the files that a change really goes through."""

import ast
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import CodeType, FrameType
from typing import Final

import pytest

from channelconnect.inbox.reading import read_waiting
from tests.broadcasts.sending.broadcasts import counts, has_ended, with_recipients
from tests.channelconnect.conftest import meta, provider
from tests.channelconnect.inbox.applying import a_message
from tests.channelconnect.inbox.notices import NUMBER
from tests.channelconnect.inbox.test_to_conversations import post
from tests.channelconnect.sending.conftest import StartSender, channel, start_sender
from tests.factories import ChannelFactory
from tests.tenants import Tenant
from tests.waiting import until
from tests.webhooks.conftest import (
    StartDispatcher,
    StartReceiver,
    _reaches_this_machine,
    start_dispatcher,
    start_receiver,
)
from tests.webhooks.delivering import ended, record_events, subscribe
from tools.hooks import PAGE
from tools.local import ROOT
from tools.sandbox import RunningSandbox
from tools.structure import PRODUCT
from workspaces.conversations.models import Message
from workspaces.subaccounts.models import Channel

__all__ = ["_reaches_this_machine", "channel", "meta", "provider", "start_dispatcher", "start_receiver", "start_sender"]
pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
# What every request goes through stands in "The path of a request", and `config` belongs to no walk.
OF_EVERY_REQUEST: Final = {"agency/pages/branding.py", "agency/pages/invalid_forms.py", "agency/services/hosts.py"}
# A sender looks after all sources, and a recipient comes from one of them.
OTHER_SOURCES: Final = {"channelconnect/sending/conversations.py", "channelconnect/sending/read_marks.py"}
ROW: Final = re.compile(r"^\| `(\S+\.py)` \| (.+) \|$", re.MULTILINE)


@dataclass
class Walk:
    """The files in which functions are called while the block runs, in all threads that begin in it."""

    seen: set[CodeType] = field(default_factory=set)

    def note(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            self.seen.add(frame.f_code)

    @contextmanager
    def begun(self) -> Iterator[None]:
        threading.setprofile(self.note)
        sys.setprofile(self.note)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    @property
    def files(self) -> set[str]:
        """The files of the product below the root, without those of `config`, of which a named function was called."""
        paths = {code.co_filename for code in self.seen if not code.co_name.startswith("<")}
        files = {path.removeprefix(f"{ROOT}/") for path in paths}
        return {file for file in files if file.partition("/")[0] in PRODUCT and not file.startswith("config/")}


@pytest.fixture
def walk() -> Walk:
    return Walk()


def listed(title: str) -> dict[str, str]:
    """Give the rows of a walk's table: each file and what it does."""
    [section] = re.findall(rf"^### {title}\n(.+?)(?=^##)", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return dict(ROW.findall(section))


def described(file: str) -> str:
    """Give the first line of a file's docstring."""
    return (ast.get_docstring(ast.parse((ROOT / file).read_text())) or "").partition("\n")[0]


def assert_listed(walk: Walk, title: str, besides: set[str] = OF_EVERY_REQUEST) -> None:
    """The table has these files and no others, each with its own description."""
    seen = walk.files - besides
    rows = "\n".join(f"| `{file}` | {described(file)} |" for file in sorted(seen))
    assert listed(title) == {file: described(file) for file in seen}, f"The walk has these rows, in any order:\n{rows}"


def test_a_sub_account_is_made(walk: Walk, a: Tenant) -> None:
    body = {"name": "Salon Ana", "owner": {"name": "Ana", "email": "ana@salon.example"}, "plan": str(a.plan.uuid)}
    with walk.begun():
        answer = a.api.post("/workspaces", body)
    assert answer.status_code == 201, answer.content
    assert_listed(walk, "A sub-account is made")


def test_a_recipient_gets_a_broadcast(
    walk: Walk, meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    broadcast = with_recipients(channel, 1)
    with walk.begun():
        sender = start_sender(rates=None)
        until(partial(has_ended, broadcast))
        sender.stop()
    assert counts(broadcast) == {"sent": 1}
    assert_listed(walk, "A recipient gets a broadcast", OTHER_SOURCES)


def test_a_message_comes_in(walk: Walk, meta: RunningSandbox) -> None:
    ChannelFactory.create(external_id=NUMBER)
    body = a_message("wamid.1", "Is there a table free?")
    with walk.begun():
        assert post(meta, body) == 200
        assert read_waiting() == 1
    assert Message.objects.get().text == "Is there a table free?"
    assert_listed(walk, "A message comes in")


def test_an_event_is_delivered(
    walk: Walk, a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver()
    subscribe(a, receiver)
    with walk.begun():
        record_events(a)
        dispatcher = start_dispatcher()
        [delivery] = ended(a)
        dispatcher.stop()
    assert delivery.status == "success"
    assert_listed(walk, "An event is delivered")
