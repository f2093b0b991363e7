"""How endpoints, deliveries and attempts read on the API."""

from typing import Any

import orjson

from webhooks.models import Attempt, Delivery, Endpoint


def endpoint_card(endpoint: Endpoint, *, with_secret: bool = False) -> dict[str, Any]:
    """The endpoint; its secret only in the answer to creation and rotation."""
    data: dict[str, Any] = {
        "uuid": endpoint.uuid,
        "url": endpoint.url,
        "events": endpoint.events,
        "description": endpoint.description or None,
        "enabled": endpoint.enabled,
        "last_outcome": endpoint.last_outcome,
        "last_delivery_at": endpoint.last_delivery_at,
        "created_at": endpoint.created_at,
    }
    return data | {"secret": endpoint.secret} if with_secret else data


def delivery_row(delivery: Delivery) -> dict[str, Any]:
    """The delivery as lists show it; `attempts` is how many have been made."""
    return {
        "id": delivery.uuid,
        "webhook": {"uuid": delivery.endpoint.uuid, "url": delivery.endpoint.url},
        "event": delivery.event_name,
        "envelope_id": delivery.envelope_id,
        "test": delivery.test,
        "status": delivery.status,
        "attempts": delivery.attempts,
        "response_status": delivery.response_status,
        "error": delivery.error,
        "created_at": delivery.created_at,
        "next_attempt_at": delivery.next_attempt_at,
        "completed_at": delivery.completed_at,
    }


def attempt_row(attempt: Attempt) -> dict[str, Any]:
    """One attempt: what was sent, what came back, and where the time went (milliseconds)."""
    return {
        "number": attempt.number,
        "started_at": attempt.started_at,
        "duration_ms": round(attempt.duration_ms),
        "dns_ms": attempt.dns_ms,
        "connect_ms": attempt.connect_ms,
        "tls_ms": attempt.tls_ms,
        "first_byte_ms": attempt.first_byte_ms,
        "remote_address": attempt.remote_address,
        "url": attempt.url,
        "request_headers": attempt.request_headers,
        "response_status": attempt.response_status,
        "response_headers": attempt.response_headers,
        "response_body": as_text(attempt.response_body),
        "error": attempt.error,
    }


def as_text(body: bytes | memoryview | None) -> str | None:
    """The kept part of an answer; bytes that are not UTF-8 show as replacement characters."""
    return None if body is None else bytes(body).decode("utf-8", "replace")


def delivery_detail(delivery: Delivery, attempts: list[Attempt]) -> dict[str, Any]:
    """The delivery with each of its attempts and the envelope as it was sent."""
    return delivery_row(delivery) | {
        "attempts": [attempt_row(attempt) for attempt in attempts],
        "envelope": orjson.Fragment(delivery.envelope),
    }
