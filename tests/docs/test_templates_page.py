"""The page about templates: the call that it shows is taken as it is shown."""

import json
from pathlib import Path

import pytest

from tests.docs.test_conversations_page import CALL
from tests.tenants import Tenant
from tests.workspaces.conversations.sending import a_template

PAGE = Path(__file__).parents[2] / "docs/workspace-api/templates.md"


@pytest.mark.django_db
def test_the_call_that_is_shown_is_taken(a: Tenant) -> None:
    a_template(a.channel)
    [call] = CALL.finditer(PAGE.read_text().replace("{channel}", str(a.channel.uuid)))
    answer = a.workspace_api.call(call["method"], call["path"], json.loads(call["body"]))
    assert answer.status_code == 202, answer.content
    assert a.workspace_api.get("/templates").json()["meta"]["total"] == 1
