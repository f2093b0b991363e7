"""The agency API about connecting channels: sessions that start once per Idempotency-Key, and settings."""

from collections.abc import Callable
from uuid import UUID

import orjson
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import path
from rest_framework.request import Request

from agency.api import AgencyViewSet
from channelconnect.models import ConnectSession
from channelconnect.models.sessions import ERROR_CODES, Platform, SessionStatus
from channelconnect.services.sessions.creation import (
    ConnectionNotFound,
    KeyTaken,
    SubAccountSuspended,
    create_session,
    keep_idempotency_key,
    session_by_key,
)
from channelconnect.services.sessions.ending import cancel_session, pending_snapshot_of, snapshot_of
from channelconnect.services.settings import (
    LONGEST_URL,
    MOST_RETURN_URLS,
    ConnectIsOff,
    require_connect,
    set_return_urls,
    settings_of,
)
from config.api.fields import BooleanField, ChoiceField, DateTimeField, ListField, URLField, UUIDField
from config.api.idempotency import Idempotency, KeyReused, Work, fingerprint_of, presented_idempotency_key
from config.api.operations import list_response, object_response, operation
from config.api.serializers import Serializer
from config.api.text_fields import OpaqueField
from config.db import database_now
from workspaces.subaccounts.api.nested import NestedSubAccountViewSet


class ConnectionIdempotency(Idempotency["ConnectionViewSet"]):
    """Answers a repeated request with 200 and the connection as it is now, for as long as the connection is kept.

    It stores no answer, and so no secret address.
    """

    def answer_once(
        self, view: "ConnectionViewSet", request: Request, work: Work, prepare: Callable[[], None] | None = None
    ) -> HttpResponse:
        """Do the work, or show the connection that the key has started. `prepare` is not used here."""
        key = presented_idempotency_key(request)
        if key is None:
            return work()
        digest = fingerprint_of(request)
        try:
            return self._start(view, key, digest, work)
        except KeyTaken:
            return self._again(view, key, digest)

    def _start(self, view: "ConnectionViewSet", key: str, digest: bytes, work: Work) -> HttpResponse:
        """Do the work unless the key is used. Of several requests at once only one succeeds."""
        if session_by_key(view.agency, key) is not None:
            raise KeyTaken
        with transaction.atomic(durable=True):
            answer = work()
            started = orjson.loads(answer.content)["data"]["id"]
            keep_idempotency_key(agency=view.agency, connection_id=started, key=key, request_digest=digest)
            return answer

    def _again(self, view: "ConnectionViewSet", key: str, digest: bytes) -> HttpResponse:
        session = session_by_key(view.agency, key)
        if session is None or bytes(session.request_digest or b"") != digest:
            raise KeyReused
        require_connect(view.agency)
        answer: HttpResponse = view.answer_with_address(session, status=200)
        answer.headers["Idempotent-Replayed"] = "true"
        return answer


LONGEST_STATE = 500


class ConnectSettingsSerializer(Serializer):
    """Whether connecting is switched on for the agency, and where browsers may return."""

    enabled = BooleanField(read_only=True, example=True)
    return_urls = ListField(
        child=OpaqueField(max_length=LONGEST_URL, example="https://app.example.com/connected"),
        max_length=MOST_RETURN_URLS,
    )


class ConnectionSerializer(Serializer):
    """A channel connection."""

    id = UUIDField(read_only=True, example="b1f6c7d2-93e4-4f0a-8a57-2c4e6d8f0b19")
    workspace_id = UUIDField(read_only=True, example="8d1f3b1e-52b4-4c8e-9a3e-2f6c7d8e9f10")
    platform = ChoiceField(Platform.choices)
    status = ChoiceField(SessionStatus.choices, read_only=True)
    return_url = OpaqueField(
        write_only=True,
        max_length=LONGEST_URL,
        help_text="One of the registered return URLs, to the letter.",
        example="https://app.example.com/connected",
    )
    channel_id = UUIDField(
        required=False,
        allow_null=True,
        default=None,
        help_text="The connected channel; in a request, the channel to connect again.",
        example=None,
    )
    error_code = ChoiceField(list(ERROR_CODES.items()), read_only=True, allow_null=True, example=None)
    state = OpaqueField(
        max_length=LONGEST_STATE,
        required=False,
        allow_null=True,
        default=None,
        help_text="Comes back to the return URL unchanged.",
        example="customer-4711",
    )
    expires_at = DateTimeField(read_only=True, example="2026-11-20T10:00:00Z")


class PendingConnectionSerializer(ConnectionSerializer):
    """A connection with the secret address for the customer's browser."""

    connect_url = URLField(read_only=True, example="https://app.example.com/connect/a-secret-of-43-characters")


class RepeatedConnectionSerializer(ConnectionSerializer):
    """The connection of the first request; once it is no longer pending there is no address any more."""

    may_be_absent = ("connect_url",)

    connect_url = URLField(required=False, example="https://app.example.com/connect/a-secret-of-43-characters")


LIST_LENGTH = 100


class ConnectSettingsViewSet(AgencyViewSet):
    """The agency's connect settings."""

    @operation(
        operation_id="readConnectSettings",
        summary="Read the connect settings",
        answer=object_response(ConnectSettingsSerializer),
    )
    def retrieve(self, request: Request) -> HttpResponse:
        return self.answer(ConnectSettingsSerializer(settings_of(self.agency)))

    @operation(
        operation_id="replaceReturnUrls",
        summary="Replace the list of return URLs",
        request=ConnectSettingsSerializer,
        answer=object_response(ConnectSettingsSerializer),
    )
    def update(self, request: Request) -> HttpResponse:
        urls = self.validated(ConnectSettingsSerializer).validated_data["return_urls"]
        saved = set_return_urls(agency=self.agency, return_urls=urls, by=self.actor)
        return self.answer(ConnectSettingsSerializer(saved))


class ConnectionViewSet(NestedSubAccountViewSet):
    """Channel connections of a sub-account."""

    lookup_url_kwarg = "connection"
    not_found = ConnectionNotFound

    def get_queryset(self) -> "QuerySet[ConnectSession]":
        """Give the agency's own: those of before a move name people and addresses of the former agency."""
        own = ConnectSession.objects.of(self.agency).filter(workspace=self.workspace)
        sessions: QuerySet[ConnectSession] = own.select_related("workspace", "channel")
        return sessions

    @operation(
        operation_id="listConnections",
        summary="List the last 100 connections",
        answer=list_response(ConnectionSerializer),
    )
    def list(self, request: Request, workspace: UUID | None) -> HttpResponse:
        newest = self.get_queryset().order_by("-created_at", "-id")[:LIST_LENGTH]
        now = database_now()
        return self.answer(ConnectionSerializer([snapshot_of(session, now=now) for session in newest], many=True))

    @operation(
        operation_id="createConnection",
        summary="Start connecting a channel; the answer holds the secret address for the customer's browser",
        request=ConnectionSerializer,
        status=201,
        answer=object_response(PendingConnectionSerializer),
        also={200: object_response(RepeatedConnectionSerializer)},
        errors={
            403: ConnectIsOff.message,
            404: "No such sub-account, or no such channel.",
            409: SubAccountSuspended.message,
        },
        idempotent=ConnectionIdempotency(),
    )
    def create(self, request: Request, workspace: UUID | None) -> HttpResponse:
        found = self.workspace
        require_connect(self.agency)
        wanted = self.validated(ConnectionSerializer).validated_data
        session = create_session(
            agency=self.agency,
            workspace=found,
            platform=wanted["platform"],
            return_url=wanted["return_url"],
            state=wanted["state"],
            reconnect=wanted["channel_id"],
            now=database_now(),
            by=self.actor,
        )
        return self.answer_with_address(session, status=201)

    @operation(operation_id="readConnection", summary="Read a connection", answer=object_response(ConnectionSerializer))
    def retrieve(self, request: Request, workspace: UUID | None, connection: UUID | None) -> HttpResponse:
        return self.answer(ConnectionSerializer(snapshot_of(self.get_object(), now=database_now())))

    @operation(
        operation_id="cancelConnection",
        summary="Abandon a connection; one that has ended stays as it is",
        answer=object_response(ConnectionSerializer),
    )
    def cancel(self, request: Request, workspace: UUID | None, connection: UUID | None) -> HttpResponse:
        now = database_now()
        cancelled = cancel_session(session=self.get_object(), now=now, by=self.actor)
        return self.answer(ConnectionSerializer(snapshot_of(cancelled, now=now)))

    def answer_with_address(self, session: ConnectSession, *, status: int) -> HttpResponse:
        """Answer the connection, with its secret address while it is pending."""
        now = database_now()
        pending = pending_snapshot_of(session, now=now)
        if pending is not None:
            return self.answer(PendingConnectionSerializer(pending), status=status)
        return self.answer(ConnectionSerializer(snapshot_of(session, now=now)), status=status)


urlpatterns = [
    path(
        "channel-connect/settings",
        ConnectSettingsViewSet.as_view({"get": "retrieve", "put": "update"}),
        name="channel-connect-settings",
    ),
    path(
        "workspaces/<id:workspace>/channel-connections",
        ConnectionViewSet.as_view({"get": "list", "post": "create"}),
        name="workspaces-channel-connections-list",
    ),
    path(
        "workspaces/<id:workspace>/channel-connections/<id:connection>",
        ConnectionViewSet.as_view({"get": "retrieve"}),
        name="workspaces-channel-connections-detail",
    ),
    path(
        "workspaces/<id:workspace>/channel-connections/<id:connection>/cancel",
        ConnectionViewSet.as_view({"post": "cancel"}),
        name="workspaces-channel-connections-cancel",
    ),
]
