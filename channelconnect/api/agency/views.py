"""Channel connect on the agency surface."""

from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from rest_framework.request import Request

from agency.api import AgencyViewSet
from channelconnect.api.agency.idempotency import ConnectionIdempotency
from channelconnect.api.agency.serializers import (
    ConnectionSerializer,
    ConnectSettingsSerializer,
    PendingConnectionSerializer,
    RepeatedConnectionSerializer,
)
from channelconnect.models import ConnectSession
from channelconnect.services import (
    ConnectionNotFound,
    ConnectIsOff,
    cancel_session,
    create_session,
    pending_snapshot_of,
    require_connect,
    set_return_urls,
    settings_of,
    snapshot_of,
)
from channelconnect.services.sessions.creation import SubAccountSuspended
from config.api.operations import list_response, object_response, operation
from config.db import database_now
from workspaces.subaccounts.api.nested import NestedSubAccountViewSet

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
