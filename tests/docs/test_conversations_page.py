"""The page about conversations: every call that it shows is taken as it is shown."""

import json
import re
from pathlib import Path

import pytest

from tests.tenants import Tenant
from tests.workspaces.conversations.facts import a_conversation
from tests.workspaces.conversations.sending import a_template

PAGE = Path(__file__).parents[2] / "docs/workspace-api/conversations.md"
CALL = re.compile(r"```json\n(?P<method>[A-Z]+) (?P<path>\S+)\n(?P<body>.*?)\n```", re.DOTALL)


@pytest.mark.django_db
def test_every_call_that_is_shown_is_taken(a: Tenant) -> None:
    a_template(a.channel)
    conversation = a_conversation(a.channel)
    text = PAGE.read_text()
    for name, value in {
        "conversation": conversation.uuid,
        "contact": conversation.contact.uuid,
        "channel": a.channel.uuid,
        "owner": a.workspace.owner.email,
    }.items():
        text = text.replace(f"{{{name}}}", str(value))
    calls = list(CALL.finditer(text))
    assert len(calls) == text.count("```json") == 6
    for call in calls:
        answer = a.workspace_api.call(call["method"], call["path"], json.loads(call["body"]))
        assert answer.status_code in (200, 201), (call["path"], answer.content)
