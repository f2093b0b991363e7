"""Channel connect on the agency surface."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from workspaces.subaccounts.api.agency.scoped import SubAccountViewSet

from agency.api.surface import AgencyViewSet
from channelconnect.api.agency.shapes import (
    Connection,
    ConnectSettingsShape,
    NewConnectionShape,
    RepeatedConnectionShape,
)
from channelconnect.api.agency.words import NewConnection, ReturnUrls
from channelconnect.models import ConnectSession, ConnectSettings
from channelconnect.services import (
    ConnectionNotFound,
    ConnectIsOff,
    Wish,
    cancel_session,
    connect_url,
    connection_payload,
    create_session,
    require_connect,
    set_return_urls,
    settings_of,
)
from channelconnect.services.opening import SubAccountSuspended
from config.api.idempotency import presented_idempotency_key
from config.api.responses import json_answer
from config.api.schema import Documented, many, one

SHOWN = 100


def settings_card(settings: ConnectSettings) -> dict[str, Any]:
    """`{enabled, return_urls}`."""
    return {"enabled": settings.enabled, "return_urls": settings.return_urls}


class ConnectSettingsViewSet(AgencyViewSet):
    """The agency's connect settings."""

    @Documented(
        operation_id="readConnectSettings", summary="Read the connect settings", answer=one(ConnectSettingsShape)
    )
    def retrieve(self, request: Request) -> HttpResponse:
        return json_answer({"data": settings_card(settings_of(self.agency))})

    @Documented(
        operation_id="replaceReturnUrls",
        summary="Replace the list of return URLs",
        body=ReturnUrls,
        body_example={"return_urls": ["https://app.example.com/connected"]},
        answer=one(ConnectSettingsShape),
    )
    def update(self, request: Request) -> HttpResponse:
        urls = self.words(ReturnUrls).validated_data["return_urls"]
        return json_answer(
            {"data": settings_card(set_return_urls(agency=self.agency, return_urls=urls, by=self.actor))}
        )


class ConnectionViewSet(SubAccountViewSet):
    """Channel connections of a sub-account."""

    @Documented(operation_id="listConnections", summary="List the last 100 connections", answer=many(Connection))
    def list(self, request: Request, workspace: UUID | None) -> HttpResponse:
        sessions = self.workspace_of(workspace).connect_sessions.select_related("workspace", "channel")
        newest = sessions.order_by("-created_at", "-id")[:SHOWN]
        now = timezone.now()
        return json_answer({"data": [connection_payload(session, now=now) for session in newest]})

    @Documented(
        operation_id="createConnection",
        summary="Start connecting a channel; the answer holds the secret address for the customer's browser",
        body=NewConnection,
        body_example={
            "platform": "whatsapp",
            "return_url": "https://app.example.com/connected",
            "state": "customer-4711",
        },
        status=201,
        answer=one(NewConnectionShape),
        also={200: one(RepeatedConnectionShape)},
        errors={403: ConnectIsOff.message, 409: SubAccountSuspended.message},
        idempotent=True,
    )
    def create(self, request: Request, workspace: UUID | None) -> HttpResponse:
        found = self.workspace_of(workspace)
        require_connect(self.agency)
        key = presented_idempotency_key(request)
        words = self.words(NewConnection).validated_data
        wish = Wish(
            platform=words["platform"],
            return_url=words["return_url"],
            state=words.get("state"),
            reconnect=words.get("channel_id"),
        )
        now = timezone.now()
        session, is_new = create_session(
            agency=self.agency, workspace=found, wish=wish, now=now, by=self.actor, idempotency_key=key
        )
        data = connection_payload(session, now=now)
        if link := connect_url(session, now=now):
            data["connect_url"] = link
        if is_new:
            return json_answer({"data": data}, status=201)
        return json_answer({"data": data}, headers={"Idempotent-Replayed": "true"})

    @Documented(operation_id="readConnection", summary="Read a connection", answer=one(Connection))
    def retrieve(self, request: Request, workspace: UUID | None, connection: UUID | None) -> HttpResponse:
        session = self.session_of(workspace, connection)
        return json_answer({"data": connection_payload(session, now=timezone.now())})

    @Documented(
        operation_id="cancelConnection",
        summary="Abandon a connection; one that has ended stays as it is",
        answer=one(Connection),
    )
    def cancel(self, request: Request, workspace: UUID | None, connection: UUID | None) -> HttpResponse:
        now = timezone.now()
        session = cancel_session(session=self.session_of(workspace, connection), now=now, by=self.actor)
        return json_answer({"data": connection_payload(session, now=now)})

    def session_of(self, workspace: UUID | None, connection: UUID | None) -> ConnectSession:
        """Find a session of the sub-account; malformed, unknown and foreign ids read alike."""
        found = self.workspace_of(workspace)
        sessions = found.connect_sessions.select_related("workspace", "channel")
        session: ConnectSession | None = sessions.filter(uuid=connection).first() if connection else None
        if session is None:
            raise ConnectionNotFound
        return session
