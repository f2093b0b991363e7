"""A reader who follows the guides word by word, with what `make run` prints, meets no error."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from pytest_django.live_server_helper import LiveServer

from broadcasts.models import Broadcast
from tests.broadcasts.making import bring_to
from tests.docs.demo_system import DemoSystem
from tests.docs.shell import Shell, blocks_of
from tests.docs.test_broadcasts_page import CALL
from tests.tenants import WORKSPACE_BASE, Api
from workspaces.contacts.models import Contact
from workspaces.conversations.models import Conversation
from workspaces.subaccounts.models import Channel

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# In the order in which they lead to each other; docs/webhooks.md's commands need a receiver (test_webhooks_page).
COMMANDS = (
    ROOT / "README.md",
    DOCS / "workspace-api.md",
    DOCS / "broadcasts.md",
    DOCS / "appointments.md",
    DOCS / "invoices.md",
    DOCS / "payments.md",
    *sorted((DOCS / "workspace-api").glob("*.md")),
    DOCS / "channel-connect.md",
)
CALLS = (
    DOCS / "workspace-api/contacts.md",
    DOCS / "workspace-api/conversations.md",
    DOCS / "workspace-api/templates.md",
    DOCS / "broadcasts.md",
)
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("counters_forgotten")]


@pytest.mark.skipif(shutil.which("curl") is None, reason="they are commands for curl")
@pytest.mark.usefixtures("one_thread_answers")
def test_every_command_is_taken(live_server: LiveServer, settings: Any, tmp_path: Path) -> None:
    system, shell = DemoSystem(settings), Shell(tmp_path)
    blocks = [block for page in COMMANDS for block in blocks_of(page)]
    assert {block.page for block in blocks} >= {"README.md", "broadcasts.md", "classes.md", "channel-connect.md"}
    shell.run(
        blocks,
        {
            "ADDRESS": live_server.url,
            "AGENCY_KEY": system.keys["agency"],
            "WORKSPACE": str(system.workspace.uuid),
            "BASE": f"{live_server.url}{WORKSPACE_BASE}",
            "KEY": system.keys["workspace"],
        },
    )
    for block, answers in shell.done:
        is_refused = "message" in (block.shown or {})
        assert answers, block
        assert [one for one in answers if (one.status >= 400) is not is_refused] == [], block


def test_every_call_that_is_shown_by_path_and_body_is_taken(settings: Any) -> None:
    system = DemoSystem(settings)
    api = Api(WORKSPACE_BASE, system.keys["workspace"])
    conversation = Conversation.objects.get()
    other, *_ = Contact.objects.exclude(pk=conversation.contact_id)
    values = {
        "channel": str(Channel.objects.get().uuid),
        "contact": str(conversation.contact.uuid),
        "other": str(other.uuid),
        "conversation": str(conversation.uuid),
        "owner": system.workspace.owner.email,
    }
    calls = [call for page in CALLS for call in CALL.finditer(page.read_text())]
    assert len(calls) > 15
    for call in calls:
        if "{source}" in call["body"]:
            values["source"] = str(bring_to({"id": values["broadcast"]}, "sent").uuid)
        path, body = call["path"], call["body"]
        for name, value in values.items():
            path, body = path.replace(f"{{{name}}}", value), body.replace(f'"{{{name}}}"', f'"{value}"')
        answer = api.call(call["method"], path, json.loads(body))
        assert answer.status_code < 300, (path, body, answer.content)
        if path == "/broadcasts":
            values["broadcast"] = answer.json()["data"]["id"]
    assert Broadcast.objects.count() == 3
