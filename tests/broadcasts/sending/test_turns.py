"""Whatever else is due, every number gets its turn, and every sender sees what is its own."""

from contextlib import closing
from typing import Any

from django.utils.timezone import now

from broadcasts.models import Broadcast
from broadcasts.sending import source
from broadcasts.sending.source import BroadcastRecipients
from config.leases.connections import open_connection
from config.leases.runs import SHARDS, shard_of
from tests.broadcasts.sending.broadcasts import TEXT
from tests.factories import ChannelFactory
from tests.tenants import Tenant
from workspaces.subaccounts.models import Channel

MOST = 40


def due(channel: Channel, number: int) -> None:
    Broadcast.objects.bulk_create(
        Broadcast(
            workspace=channel.workspace,
            channel=channel,
            name="News",
            message={"text": "News"},
            frozen=TEXT.as_json(),
            created_by_kind="system",
            created_by_label="System",
            status="sending",
            started_at=now(),
            last_contact=2**62,
            is_prepared=True,
            next_due_at=now(),
        )
        for _ in range(number)
    )


def ready(shards: Any) -> set[int]:
    with closing(open_connection("test")) as own:
        return {one.channel_id for one in BroadcastRecipients().ready_channels(own, shards)}


def test_no_number_and_no_sender_starves_behind_what_is_due_of_others(
    a: Tenant, transactional_db: None, monkeypatch: Any
) -> None:
    crowd, late = (ChannelFactory.create(workspace=a.workspace) for _ in range(2))
    due(crowd, MOST + 1)
    due(late, 1)
    monkeypatch.setattr(source, "MOST_BROADCASTS", MOST)

    assert ready(range(SHARDS)) == {crowd.pk, late.pk}
    assert ready({shard_of(late.pk)}) == {late.pk}
