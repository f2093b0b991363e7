"""Compares the lists and forecasts of a small workspace with those of a very large one."""

import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any, Final

import orjson
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection
from django.utils import timezone

from agency.actors import SYSTEM
from benchmarks.api.calls import get, handler, post
from benchmarks.contacts.rows import a_workspace, contacts_in
from benchmarks.figures import Figure
from benchmarks.rounds import interleave, median_ratio
from benchmarks.servers import Bench
from channelconnect.models import ChannelCredential, MessageTemplate
from workspaces.contacts.services import create_segment
from workspaces.contacts.services.counting import merge_counts
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services import issue_workspace_key

TITLE = (
    "One workspace with 1,000 contacts and one with 1,000,000 contacts, 200,000 conversations, 400,000 messages and a\n"
    "thread of 20,000: milliseconds of the clock for calls of the API. Ratios are large to small. The large one has a\n"
    "tag on its oldest twentieth."
)
SMALL, LARGE = 1_000, 1_000_000
ROUNDS = 5
LIST_MS, FORECAST_MS = 50.0, 1_000.0
CONVERSATIONS: Final = """
INSERT INTO conversations_conversation (uuid, workspace_id, channel_id, contact_id, status, unread_count,
    last_message_direction, last_message_preview, created_at, updated_at)
SELECT gen_random_uuid(), workspace_id, %(channel)s, id, CASE WHEN id %% 5 = 0 THEN 'open' ELSE 'closed' END,
    CASE WHEN id %% 50 = 0 THEN 1 ELSE 0 END, '', '', now(), now() - id * interval '1 minute'
FROM contacts_contact WHERE workspace_id = %(workspace)s ORDER BY id LIMIT %(number)s
"""
MESSAGES: Final = """
INSERT INTO conversations_message (uuid, workspace_id, channel_id, conversation_id, direction, type, text, status,
    provider_message_id, sent_elsewhere, sent_by_kind, sent_by_label, provider_time, created_at, sent_at)
SELECT gen_random_uuid(), there.workspace_id, there.channel_id, there.id, 'out', 'text', 'Your table is booked.',
    'sent', 'wamid.' || gen_random_uuid(), false, 'workspace_key', 'Shop', now() - n * interval '1 second', now(),
    now()
FROM (SELECT * FROM conversations_conversation WHERE workspace_id = %(workspace)s ORDER BY id LIMIT %(threads)s) there
CROSS JOIN generate_series(1, %(number)s) n
"""
OLD_TAG: Final = """
UPDATE contacts_contact SET tags = tags || '{Old}'::varchar[], tag_keys = tag_keys || '{old}'::text[]
WHERE id IN (
    SELECT id FROM contacts_contact WHERE workspace_id = %(workspace)s ORDER BY created_at LIMIT %(number)s)
"""
LISTS = {
    "contacts, newest page": "/contacts",
    "contacts, page 300": "/contacts?page=300",
    "contacts by a tag of a twentieth, the oldest": "/contacts?tag=old",
    "contacts by a tag that nobody has": "/contacts?tag=nobody",
    "contacts by a tag that all have": "/contacts?tag=newsletter",
    "contacts by phone": "/contacts?phone=%2B4915100000099",
    "contacts by e-mail": "/contacts?email=contact.99@example.com",
    "contacts by a part of an e-mail": "/contacts?search=contact.99@",
    "conversations": "/conversations",
    "conversations, page 500": "/conversations?page=500",
    "conversations, open": "/conversations?status=open",
    "conversations, unread": "/conversations?unread=true",
    "conversations, read": "/conversations?unread=false",
}
SEGMENTS: Final[dict[str, dict[str, Any]]] = {
    "a segment by country": {"country": "DE"},
    "a segment by tag": {"tags_any": ["Group 7"]},
    "a segment by a detail": {"attributes": {"plan": "gold"}},
}


class Grown:
    """A workspace with `contacts` contacts, of whom a fifth have a conversation."""

    def __init__(self, contacts: int) -> None:
        self.workspace: Workspace = a_workspace()
        contacts_in(self.workspace, contacts, searchable=True)
        name = f"grown-{contacts}"
        self.channel = Channel.objects.create(
            workspace=self.workspace, platform="whatsapp", external_id=name, name="Bench", handle=name
        )
        ChannelCredential.objects.create(channel=self.channel, token="a token", container_id=name)  # noqa: S106  # nobody is called
        MessageTemplate.objects.create(
            container_id=name, name="offer", language="en", status="approved", category="marketing",
            components=[{"type": "BODY", "text": "The sale begins."}],
        )  # fmt: skip
        values = {"workspace": self.workspace.pk, "channel": self.channel.pk}
        with connection.cursor() as cursor:
            cursor.execute(CONVERSATIONS, values | {"number": contacts // 5})
            cursor.execute(MESSAGES, values | {"threads": contacts // 5, "number": 2})
            cursor.execute(MESSAGES, values | {"threads": 1, "number": contacts // 50})
            cursor.execute(OLD_TAG, values | {"number": contacts // 20})
            cursor.execute("VACUUM ANALYZE")
        while merge_counts(rows=1):
            pass
        _, self.key = issue_workspace_key(workspace=self.workspace, name="Bench", by=SYSTEM)
        self.segments = {
            name: create_segment(workspace=self.workspace, name=name, filter=given, now=timezone.now(), by=SYSTEM)
            for name, given in SEGMENTS.items()
        }

    def paths(self) -> dict[str, str]:
        [longest] = self.workspace.conversations.order_by("id")[:1]
        thread = f"/conversations/{longest.uuid}/messages"
        return {
            **LISTS,
            "the longest thread": thread,
            "the longest thread, page 300": f"{thread}?page=300",
            **{name: f"/segments/{segment.uuid}" for name, segment in self.segments.items()},
        }

    def forecast(self, number: int) -> bytes:
        """Give the body of a new forecast for all contacts."""
        message = {"template": "offer", "language": "en", "components": []}
        audience = {"type": "segment", "segment": "all"}
        said = {"name": f"Sale {number}", "channel": str(self.channel.uuid), "message": message, "audience": audience}
        return orjson.dumps({**said, "scheduled_at": f"2099-01-01T00:00:{number:02}Z"})


def run(_: Bench) -> list[Figure]:
    settings.ROOT_URLCONF = "config.urls"
    settings.ADDRESS_LIMIT = 1_000_000
    application = handler(urlconf="config.urls")
    large, small = Grown(LARGE), Grown(SMALL)
    return [_compared(name, large, small, partial(_list_ms, application, name), LIST_MS) for name in large.paths()] + [
        _compared("a forecast for everybody, first answer", large, small, _Forecasts(application), FORECAST_MS)
    ]


def _compared(name: str, large: Grown, small: Grown, measure: Callable[[Grown], float], at_most: float) -> Figure:
    measure(large)
    found = interleave({"large": partial(measure, large), "small": partial(measure, small)}, rounds=ROUNDS)
    ratio = median_ratio(found["large"], found["small"])
    return Figure(name=name, measured=median(found["large"]), unit="ms", ratio=ratio, at_most=at_most)


def _list_ms(application: WSGIHandler, name: str, of: Grown) -> float:
    path = f"/api/v1{of.paths()[name]}"
    began = time.perf_counter()
    get(application, path, of.key)
    return (time.perf_counter() - began) * 1000


class _Forecasts:
    """Requests a new forecast with each call."""

    def __init__(self, application: WSGIHandler) -> None:
        self._application, self._number = application, 0

    def __call__(self, of: Grown) -> float:
        self._number += 1
        body = of.forecast(self._number)
        began = time.perf_counter()
        post(self._application, "/api/v1/broadcasts/preview", of.key, body)
        return (time.perf_counter() - began) * 1000
