"""The page about broadcasts: every call that it shows is taken as it is shown, and it names all there is."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from broadcasts.models import Broadcast, Recipient
from tests.broadcasts.making import a_template, bring_to, create
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import a_conversation
from workspaces.contacts.models import Contact

PAGE = Path(__file__).parents[2] / "docs/broadcasts.md"
CALL = re.compile(r"```json\n(?P<method>[A-Z]+) (?P<path>\S+)\n(?P<body>.*?)\n```", re.DOTALL)


@pytest.mark.django_db
def test_every_call_that_is_shown_is_taken(a: Tenant) -> None:
    a_template(a.channel, "body")
    contact = a_conversation(a.channel).contact
    Contact.objects.filter(pk=contact.pk).update(name="Ada Lovelace")
    source = create(a)
    bring_to(source, "sent")
    values: dict[str, Any] = {"channel": a.channel.uuid, "contact": contact.uuid, "source": source["id"]}
    calls = list(CALL.finditer(PAGE.read_text()))
    assert len(calls) == PAGE.read_text().count("```json") == 7
    for call in calls:
        path, body = call["path"], call["body"]
        for name, value in values.items():
            path, body = path.replace(f"{{{name}}}", str(value)), body.replace(f'"{{{name}}}"', f'"{value}"')
        answer = a.workspace_api.call(call["method"], path, json.loads(body))
        assert answer.status_code in (200, 201, 202), (path, answer.content)
        if path == "/broadcasts":
            values["broadcast"] = answer.json()["data"]["id"]


def test_every_status_and_reason_is_explained() -> None:
    text = PAGE.read_text()
    words = [*Broadcast.Status.values, *Recipient.Status.values, *Recipient.SkipReason.values]
    assert [word for word in words if f"`{word}`" not in text] == []
