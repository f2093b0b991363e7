"""Makes callbacks in bulk, and fills the inbox with them."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from django.db import connection
from django.utils import timezone

from agency.actors import SYSTEM
from benchmarks.rows import agency_with
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services import connect_channel

TIME = 1_790_000_000
PEOPLE = 5_000
COPY = "COPY channelconnect_providernotice (received_at, digest, body, tries, fault) FROM STDIN"


def channels(count: int) -> list[Channel]:
    """Connect `count` numbers, each in its own sub-account."""
    agency, _ = agency_with(count)
    now = timezone.now()
    return [
        connect_channel(
            workspace=workspace,
            platform="whatsapp",
            external_id=f"4{agency.pk:05}{number:05}",
            name=f"Number {number}",
            handle=f"+4930{number:07}",
            now=now,
            by=SYSTEM,
        )
        for number, workspace in enumerate(Workspace.objects.filter(agency=agency).order_by("id"))
    ]


def body(channel: Channel, **value: Any) -> bytes:
    metadata = {"display_phone_number": "493012345", "phone_number_id": channel.external_id}
    value = {"messaging_product": "whatsapp", "metadata": metadata, **value}
    entry = {"id": "2001", "time": TIME, "changes": [{"field": "messages", "value": value}]}
    return json.dumps({"object": "whatsapp_business_account", "entry": [entry]}).encode()


def person(number: int) -> str:
    return f"49170{number % PEOPLE:07}"


def messages(numbers: Iterable[int], run: str) -> dict[str, Any]:
    """Give a callback's value with texts of people."""
    numbers = list(numbers)
    people = dict.fromkeys(person(number) for number in numbers)
    return {
        "contacts": [{"profile": {"name": f"Person {who}"}, "wa_id": who} for who in people],
        "messages": [
            {
                "from": person(number),
                "id": f"wamid.HBgLNDkxNzAwMDAwMDAVAgASGBQzQ{run}{number:08}",
                "timestamp": str(TIME + number),
                "type": "text",
                "text": {"body": f"Do you have a free table tonight at eight? There are {number} of us."},
            }
            for number in numbers
        ],
    }


def statuses(ids: Iterable[str], status: str) -> dict[str, Any]:
    """Give a callback's value with statuses of our messages."""
    return {
        "statuses": [
            {
                "id": key,
                "status": status,
                "timestamp": str(TIME + 1),
                "recipient_id": person(number),
                "pricing": {"billable": True, "pricing_model": "PMP", "category": "marketing", "type": "regular"},
            }
            for number, key in enumerate(ids)
        ]
    }


def fill(bodies: Iterable[bytes]) -> None:
    """Put bodies into the inbox, as the callback's view does."""
    now = timezone.now()
    with connection.cursor() as cursor:
        with cursor.copy(COPY) as copy:
            for content in bodies:
                copy.write_row((now, hashlib.sha256(content).digest(), content, 0, ""))
        cursor.execute("ANALYZE channelconnect_providernotice")
