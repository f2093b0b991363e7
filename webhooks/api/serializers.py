"""Endpoints and deliveries of the agency API, and the mixin that lets one view class serve both surfaces."""

from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, ClassVar, TypeVar

import orjson
from rest_framework import serializers

from agency.event_types import event_labels, event_type
from agency.tenants import Audience
from config.api.fields import (
    BooleanField,
    ChoiceField,
    DateTimeField,
    DictField,
    FloatField,
    IntegerField,
    ListField,
    URLField,
    UUIDField,
)
from config.api.filters import FilterSet
from config.api.operations import operation
from config.api.serializers import Serializer
from config.api.text_fields import CharField
from webhooks.models import Delivery, Endpoint
from webhooks.services.deliveries import sample_envelope
from workspaces.subaccounts.events import WORKSPACE_CREATED

LONGEST_URL = 2_048
MOST_EVENTS = 100
MOST_OVERLAP_HOURS = 72
URL = "https://crm.example.com/hooks/agency"
SAMPLE = orjson.loads(sample_envelope(WORKSPACE_CREATED))


REPLAYED = [("error", "What failed"), ("all", "Everything")]


class EventField(ChoiceField):
    """The name of an event that the caller may subscribe to: one of `context["event_catalogue"]`."""

    def __init__(self, *, audience: Audience = Audience.AGENCY, **options: Any) -> None:
        super().__init__(list(event_labels(audience)), **options)

    def to_internal_value(self, data: object) -> str:
        catalogue = self.context["event_catalogue"]
        if not isinstance(data, str) or data not in catalogue:
            self.fail("invalid_choice", choices=", ".join(catalogue))
        return data


class EventTypeSerializer(Serializer):
    """An event and its label."""

    event = CharField(source="name", example=WORKSPACE_CREATED)
    label = CharField(example=event_type(WORKSPACE_CREATED).label)  # type: ignore[assignment]  # the field's own name in the specification


class WebhookSerializer(Serializer):
    """A webhook endpoint."""

    uuid: UUIDField | None = UUIDField(read_only=True, example="c4a1f0de-7b52-4a3e-8f61-9d0e2b5c7a13")
    url = CharField(max_length=LONGEST_URL, example=URL)
    events: ListField | None = ListField(
        child=EventField(example=WORKSPACE_CREATED), max_length=MOST_EVENTS, allow_empty=False
    )
    description = CharField(max_length=200, required=False, default="", blank_as_null=True, example="CRM")
    enabled = BooleanField(required=False, default=True, example=True)
    last_outcome = ChoiceField(Endpoint.Outcome.choices, read_only=True, allow_null=True)
    last_delivery_at = DateTimeField(read_only=True, allow_null=True, example="2026-11-20T09:30:01Z")
    created_at = DateTimeField(read_only=True, example="2026-11-19T08:00:00Z")
    retries = ChoiceField(
        Endpoint.Retries.choices,
        required=False,
        default=Endpoint.Retries.STANDARD.value,
        help_text="Three attempts (standard) or nine over about 28 hours (extended), of events from then on.",
        example="standard",
    )


class WebhookWithSecretSerializer(WebhookSerializer):
    """The endpoint with its signing secret, which is shown this once."""

    secret = CharField(read_only=True, example="whsec_ZXhhbXBsZSBleGFtcGxlIGV4YW1wbGUgZXhhbXBsZSE=")


class RotationSerializer(Serializer):
    """For how many hours the old secret signs beside the new one; without them it signs nothing more."""

    overlap_hours = IntegerField(required=False, default=0, min_value=0, max_value=MOST_OVERLAP_HOURS, example=24)


class WebhookTestSerializer(Serializer):
    """The event to sample; without one, the first that the endpoint is subscribed to."""

    event = EventField(required=False, allow_null=True, default=None, example=WORKSPACE_CREATED)


class ReplaySerializer(Serializer):
    """Since when deliveries are sent again: those that failed or all that have ended, of all events or of these."""

    # Unread, the other surface's name would have everything sent again.
    own_name, other_name = "events", "topics"

    since = DateTimeField(example="2026-11-20T00:00:00Z")
    status = ChoiceField(REPLAYED, required=False, allow_null=True, default="error", example="error")
    events: ListField | None = ListField(
        child=EventField(example=WORKSPACE_CREATED),
        max_length=MOST_EVENTS,
        allow_empty=False,
        required=False,
        allow_null=True,
        default=None,
    )

    def to_internal_value(self, data: object) -> Any:
        if isinstance(data, dict) and data.get(self.other_name) is not None:
            message = f"This API calls them {self.own_name}: there is no {self.other_name} field."
            raise serializers.ValidationError({self.other_name: [message]})
        return super().to_internal_value(data)


class ReplayedSerializer(Serializer):
    """How many new deliveries were made, 10,000 at most."""

    count = IntegerField(example=12)


class DeliveredToSerializer(Serializer):
    """The endpoint of a delivery."""

    uuid = UUIDField(example="c4a1f0de-7b52-4a3e-8f61-9d0e2b5c7a13")
    url = URLField(example=URL)


class DeliverySerializer(Serializer):
    """One envelope on its way to one endpoint; `attempts` is how many were made."""

    id = UUIDField(source="uuid", example="e0b7d9c2-4f31-4c6a-b8a5-6d1f3e2a9c70")
    webhook: Serializer = DeliveredToSerializer(source="endpoint")
    event = CharField(source="event_name", example=WORKSPACE_CREATED)
    envelope_id = UUIDField(example=SAMPLE["id"])
    test = BooleanField()
    status = ChoiceField(Delivery.Status.choices, example="success")
    attempts = IntegerField(example=1)
    response_status = IntegerField(allow_null=True, example=204)
    error = CharField(allow_null=True)
    created_at = DateTimeField()
    next_attempt_at = DateTimeField(allow_null=True)
    completed_at = DateTimeField(allow_null=True, example="2026-11-20T09:30:01Z")


class RoundedField(IntegerField):
    """A number to the nearest integer."""

    is_written_as_it_is = False

    def to_representation(self, value: float) -> int:
        return round(value)


class BytesField(CharField):
    """Bytes as text; what is not UTF-8 among them shows as replacement characters."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.is_written_as_it_is = False

    def to_representation(self, value: bytes | memoryview) -> str:
        return bytes(value).decode("utf-8", "replace")


class JSONBytesField(DictField):
    """An object that is JSON already, written as it is."""

    is_written_as_it_is = False

    def to_representation(self, value: bytes) -> orjson.Fragment:
        return orjson.Fragment(value)


class AttemptSerializer(Serializer):
    """What was sent and what came back; times in milliseconds."""

    number = IntegerField(example=1)
    started_at = DateTimeField(example="2026-11-20T09:30:00.412000Z")
    duration_ms = RoundedField(example=87)
    dns_ms = FloatField(allow_null=True, example=3.1)
    connect_ms = FloatField(allow_null=True, example=12.4)
    tls_ms = FloatField(allow_null=True, example=31.9)
    first_byte_ms = FloatField(allow_null=True, example=85.2)
    remote_address = CharField(allow_null=True, example="93.184.215.14")
    url = CharField(example=URL)
    request_headers = DictField(
        child=CharField(), example={"X-Svc-Event": WORKSPACE_CREATED, "X-Svc-Delivery": SAMPLE["id"]}
    )
    response_status = IntegerField(allow_null=True, example=204)
    response_headers = CharField(allow_null=True, example="HTTP/1.1 204 No Content")
    response_body = BytesField(allow_null=True, help_text="Its first 2 KiB.", example="")
    error = CharField(allow_null=True)


class DeliveryDetailSerializer(DeliverySerializer):
    """The delivery with each of its attempts and the envelope as it was sent."""

    envelope = JSONBytesField(example=SAMPLE)

    def get_fields(self) -> dict[str, Any]:
        """Show the attempts themselves where lists show their number."""
        return {**super().get_fields(), "attempts": AttemptSerializer(many=True, source="attempts_in_order")}


Handler = TypeVar("Handler", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceSerializers:
    """A surface's serializers, its filters of the delivery log, and the name of its field with the public id."""

    endpoint: type[Serializer]
    endpoint_with_secret: type[Serializer]
    test: type[Serializer]
    replay: type[Serializer]
    delivery: type[Serializer]
    delivery_detail: type[Serializer]
    filters: type[FilterSet]
    id_name: str
    # Whether even short lists have pages, with `links` and `meta`.
    has_pages: bool = False

    @property
    def queued(self) -> dict[str, object]:
        """The document's example of a delivery that was just created."""
        return {
            **self.delivery.example(),
            "status": "pending",
            "attempts": 0,
            "response_status": None,
            "next_attempt_at": "2026-11-20T09:30:00Z",
            "completed_at": None,
        }


def surface_operation(make: Callable[[SurfaceSerializers], operation]) -> Callable[[Handler], Handler]:
    """Declare an action whose operation is made from the shapes of the surface."""

    def mark(handler: Handler) -> Handler:
        handler.__dict__["make_operation"] = make
        return handler

    return mark


class SurfaceOperationsMixin:
    """A mixin for views with `declared` actions. A subclass with `shapes` gets its own operation for each action."""

    shapes: ClassVar[SurfaceSerializers]

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        if "shapes" not in vars(cls):
            return
        for name in dir(cls):
            handler = getattr(cls, name, None)
            make = getattr(handler, "make_operation", None)
            if make and isinstance(handler, FunctionType):
                setattr(cls, name, make(cls.shapes)(_copy(handler)))


def _copy(handler: FunctionType) -> FunctionType:
    """Copy a function, because a declaration sets attributes on the function that it decorates."""
    copied = FunctionType(
        handler.__code__, handler.__globals__, handler.__name__, handler.__defaults__, handler.__closure__
    )
    copied.__kwdefaults__ = handler.__kwdefaults__
    copied.__qualname__, copied.__module__, copied.__doc__ = handler.__qualname__, handler.__module__, handler.__doc__
    # A declaration puts its schema into `kwargs`, so they are copied too.
    copied.__dict__.update({name: dict(kept) if name == "kwargs" else kept for name, kept in handler.__dict__.items()})
    return copied
