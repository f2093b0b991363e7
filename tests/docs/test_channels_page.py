"""The page about channels shows what is answered."""

import json
from pathlib import Path

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests.factories import ChannelFactory
from tests.tenants import Tenant
from workspaces.subaccounts.services import reconnect_channel

PAGE = Path(__file__).parents[2] / "docs/workspace-api/channels.md"


@pytest.mark.django_db
def test_the_answer_that_is_shown_is_given(a: Tenant) -> None:
    channel = ChannelFactory.create(workspace=a.workspace, name="Front desk", handle="+1 555 0100")
    reconnect_channel(
        channel=channel,
        name="Front desk",
        handle="+1 555 0100",
        messaging_limit=1_000,
        quality="GREEN",
        now=now(),
        by=SYSTEM,
    )
    shown = json.loads(PAGE.read_text().partition("```json\n")[2].partition("```")[0])
    answer = a.workspace_api.get(f"/channels/{channel.uuid}").json()
    told = shown["data"] | {"id": str(channel.uuid), "connected_at": answer["data"]["connected_at"]}
    assert answer["data"] == told
    assert list(answer["data"]) == list(shown["data"])
    assert answer["data"] in a.workspace_api.get("/channels").json()["data"]
