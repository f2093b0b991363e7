"""The agency API below one sub-account's path: its add-ons, its channels and its API keys."""

from collections.abc import Mapping
from functools import cached_property
from uuid import UUID

import orjson
from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request

from agency.api import AddonSerializer, AgencyViewSet
from agency.models import Addon
from agency.services import AddonNotFound
from agency.services.keys import KeyRolledAlready
from config.api.idempotency import SEALED, Idempotency
from config.api.operations import list_response, object_response, operation
from config.api.responses import json_response
from config.encryption import UnreadableSecret, decrypt_text, encrypt_text
from config.errors import Conflict, Forbidden
from workspaces.subaccounts.api.serializers import (
    AddonChoiceSerializer,
    ChannelSerializer,
    KeyRollSerializer,
    KeySerializer,
    KeyWithPlaintextSerializer,
    NewKeySerializer,
    RevokedSerializer,
    RolledKeySerializer,
)
from workspaces.subaccounts.models import Channel, Workspace, WorkspaceKey
from workspaces.subaccounts.services import (
    ChannelNotFound,
    KeyNotFound,
    TooManyKeys,
    WorkspaceNotFound,
    disconnect_channel,
    grant_addon,
    issue_workspace_key,
    revoke_addon,
    revoke_workspace_key,
    roll_workspace_key,
)


class NestedSubAccountViewSet(AgencyViewSet):
    """Views below a sub-account's own path."""

    @cached_property
    def workspace(self) -> Workspace:
        """The sub-account that the path names. Raises `WorkspaceNotFound`."""
        rows: QuerySet[Workspace] = Workspace.objects.of(self.agency).select_related("plan")
        return self.find(rows, self.kwargs["workspace"], missing=WorkspaceNotFound)


class HeldAddonViewSet(NestedSubAccountViewSet):
    """The add-ons that a sub-account holds, with the limits that it got with them."""

    lookup_url_kwarg = "addon"
    not_found = AddonNotFound

    def get_queryset(self) -> "QuerySet[Addon]":
        """An archived add-on can be taken away, though no longer granted."""
        return Addon.objects.filter(agency=self.agency)

    @operation(
        operation_id="listHeldAddons",
        summary="List the add-ons of a sub-account",
        answer=list_response(AddonSerializer),
    )
    def list(self, request: Request, workspace: UUID | None) -> HttpResponse:
        return self.answer(AddonSerializer(self.workspace.granted_addons, many=True))

    @operation(
        operation_id="grantAddon",
        summary="Grant an add-on; one that is held already answers 200",
        request=AddonChoiceSerializer,
        status=201,
        answer=object_response(AddonSerializer),
        also={200: object_response(AddonSerializer)},
        errors={404: "No such sub-account, or no such add-on."},
        idempotent=True,
    )
    def create(self, request: Request, workspace: UUID | None) -> HttpResponse:
        found = self.workspace
        addon = self.validated(AddonChoiceSerializer).validated_data["addon"]
        granted = grant_addon(workspace=found, addon=addon, now=timezone.now(), by=self.actor)
        [held] = [one for one in found.granted_addons if one.pk == addon.pk]
        return self.answer(AddonSerializer(held), status=201 if granted else 200)

    @operation(operation_id="revokeAddon", summary="Revoke an add-on", answer=object_response(RevokedSerializer))
    def destroy(self, request: Request, workspace: UUID | None, addon: UUID | None) -> HttpResponse:
        found, held = self.workspace, self.get_object()
        revoke_addon(workspace=found, addon=held, now=timezone.now(), by=self.actor)
        return self.answer(RevokedSerializer({"revoked": True}))


class SubAccountChannelViewSet(NestedSubAccountViewSet):
    """The channels of a sub-account."""

    lookup_url_kwarg = "channel"
    not_found = ChannelNotFound

    def get_queryset(self) -> "QuerySet[Channel]":
        channels: QuerySet[Channel] = self.workspace.channels.all()
        return channels

    @operation(
        operation_id="listSubAccountChannels",
        summary="List the channels of a sub-account",
        answer=list_response(ChannelSerializer),
    )
    def list(self, request: Request, workspace: UUID | None) -> HttpResponse:
        return self.answer(ChannelSerializer(self.workspace.connected_channels, many=True))

    @operation(
        operation_id="readSubAccountChannel",
        summary="Read a channel of a sub-account",
        answer=object_response(ChannelSerializer),
    )
    def retrieve(self, request: Request, workspace: UUID | None, channel: UUID | None) -> HttpResponse:
        return self.answer(ChannelSerializer(self.get_object()))

    @operation(
        operation_id="disconnectSubAccountChannel",
        summary="Disconnect a channel, which frees its account; a disconnected one stays as it is",
        answer=object_response(ChannelSerializer),
    )
    def destroy(self, request: Request, workspace: UUID | None, channel: UUID | None) -> HttpResponse:
        disconnected = disconnect_channel(channel=self.get_object(), now=timezone.now(), by=self.actor)
        return self.answer(ChannelSerializer(disconnected))


KEY_CREATING_ACTIONS = frozenset({"create", "roll"})
KEY_GONE = "No such sub-account, or the key that was answered for is not live any more."


class MayNotMakeKeys(Forbidden):
    message = "This API key may not make workspace keys."


class PlaintextExpired(Conflict):
    message = "This key can no longer be shown. Make another one."


class PlaintextIdempotency(Idempotency["SubAccountKeyViewSet"]):
    """Remembers an answer with its plaintext encrypted. A replay shows the plaintext while the key is live."""

    def remembered(self, answer: HttpResponse) -> bytes:
        data = orjson.loads(answer.content)["data"]
        sealed = encrypt_text(data["key"], context=_context(data))
        return orjson.dumps({"data": {**data, "key": None}, SEALED: sealed})

    def replayed(self, view: "SubAccountKeyViewSet", status: int, stored: bytes) -> HttpResponse:
        kept = orjson.loads(stored)
        data = kept["data"]
        view.find(view.get_queryset(), UUID(data["uuid"]), missing=KeyNotFound)
        try:
            plaintext = decrypt_text(kept[SEALED], context=_context(data))
        except UnreadableSecret as error:
            raise PlaintextExpired from error
        return json_response({"data": {**data, "key": plaintext}}, status)


def _context(data: Mapping[str, object]) -> str:
    return f"workspace_key#{data['uuid']}"


class SubAccountKeyViewSet(NestedSubAccountViewSet):
    """The live keys of a sub-account. Making one takes a key with that ability, whatever else is asked for."""

    lookup_url_kwarg = "key"
    not_found = KeyNotFound

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Refuse a key without the ability before an `Idempotency-Key` is looked at, which might show a plaintext."""
        super().initial(request, *args, **kwargs)
        if self.action in KEY_CREATING_ACTIONS and not self.caller.can_make_keys:
            raise MayNotMakeKeys

    def get_queryset(self) -> "QuerySet[WorkspaceKey]":
        keys: QuerySet[WorkspaceKey] = WorkspaceKey.objects.filter(workspace=self.workspace).live()
        return keys

    @operation(
        operation_id="listSubAccountKeys",
        summary="List the live API keys of a sub-account, newest first",
        answer=list_response(KeySerializer),
    )
    def list(self, request: Request, workspace: UUID | None) -> HttpResponse:
        return self.answer(KeySerializer(self.get_queryset().order_by("-created_at", "-id"), many=True))

    @operation(
        operation_id="readSubAccountKey",
        summary="Read a live API key of a sub-account",
        answer=object_response(KeySerializer),
    )
    def retrieve(self, request: Request, workspace: UUID | None, key: UUID | None) -> HttpResponse:
        return self.answer(KeySerializer(self.get_object()))

    @operation(
        operation_id="createSubAccountKey",
        summary="Make an API key of a sub-account; it is shown this once",
        request=NewKeySerializer,
        status=201,
        answer=object_response(KeyWithPlaintextSerializer),
        errors={403: f"{MayNotMakeKeys.message} {TooManyKeys.message}", 404: KEY_GONE, 409: PlaintextExpired.message},
        idempotent=PlaintextIdempotency(),
    )
    def create(self, request: Request, workspace: UUID | None) -> HttpResponse:
        found = self.workspace
        wanted = self.validated(NewKeySerializer).validated_data
        key, plaintext = issue_workspace_key(workspace=found, **wanted, by=self.actor)
        return json_response({"data": {**KeySerializer(key).data, "key": plaintext}}, 201)

    @operation(
        operation_id="rollSubAccountKey",
        summary="Replace an API key of a sub-account by a new one, which is shown this once",
        request=KeyRollSerializer,
        body_optional=True,
        status=201,
        answer=object_response(RolledKeySerializer),
        errors={
            403: MayNotMakeKeys.message,
            404: KEY_GONE,
            409: f"{KeyRolledAlready.message} {PlaintextExpired.message}",
        },
        idempotent=PlaintextIdempotency(),
    )
    def roll(self, request: Request, workspace: UUID | None, key: UUID | None) -> HttpResponse:
        found, old = self.workspace, self.get_object()
        until = self.validated(KeyRollSerializer).validated_data["old_valid_until"]
        rolled = roll_workspace_key(workspace=found, key=old, old_valid_until=until, now=timezone.now(), by=self.actor)
        data = {**KeySerializer(rolled.key).data, "key": rolled.plaintext, "old_valid_until": rolled.old_valid_until}
        return json_response({"data": data}, 201)

    @operation(
        operation_id="revokeSubAccountKey",
        summary="Revoke an API key of a sub-account, at once and for good",
        answer=object_response(RevokedSerializer),
    )
    def destroy(self, request: Request, workspace: UUID | None, key: UUID | None) -> HttpResponse:
        revoke_workspace_key(key=self.get_object(), now=timezone.now(), by=self.actor)
        return self.answer(RevokedSerializer({"revoked": True}))
