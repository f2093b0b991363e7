"""The outbox's one way in: a fact is recorded with the change that made it true, or not at all."""

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import orjson
from django.db import transaction

from agency.event_types import event_type
from agency.models import Event
from config.celery import wake_up

DISPATCHER = "dispatcher"


def envelope(
    *, id: uuid.UUID, event: str, occurred_at: datetime, agency_id: int, data: Mapping[str, Any], test: bool = False
) -> bytes:
    """Build the exact bytes that receivers get: `{id, event, occurred_at, agency_id, data}`, `test` only when true."""
    body: dict[str, Any] = {
        "id": str(id),
        "event": event,
        "occurred_at": occurred_at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "agency_id": agency_id,
        "data": data,
    }
    if test:
        body["test"] = True
    return orjson.dumps(body, option=orjson.OPT_UTC_Z)


def record_event(
    *, agency_id: int, name: str, data: Any, now: datetime, workspace_uuid: uuid.UUID | None = None
) -> Event:
    """Record a declared event with the data that its type's serializer writes. Raises `LookupError` for an unknown one.

    `data` is what that serializer takes, often the things concerned by name. Must be called inside the change's
    transaction.
    """
    written = event_type(name).serializer(data).data
    return write_event(agency_id=agency_id, name=name, data=written, now=now, workspace_uuid=workspace_uuid)


def write_event(
    *, agency_id: int, name: str, data: Mapping[str, Any], now: datetime, workspace_uuid: uuid.UUID | None = None
) -> Event:
    """Write an event whose `data` is JSON already and, once it is committed, wake a dispatcher."""
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("An event belongs into the transaction of its change.")
    identity = uuid.uuid4()
    event = Event.objects.create(
        uuid=identity,
        agency_id=agency_id,
        workspace_uuid=workspace_uuid,
        name=name,
        occurred_at=now,
        body=envelope(id=identity, event=name, occurred_at=now, agency_id=agency_id, data=data),
    )
    wake_up(DISPATCHER)
    return event
