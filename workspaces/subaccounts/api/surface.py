"""The workspace surface: the base class of every view below `/api/v1`."""

from rest_framework.viewsets import ViewSetMixin

from agency.actors import Actor
from agency.models import Switch
from agency.pages.branding import host_serves
from agency.request_actor import request_actor
from agency.services.agencies import switch_is_on
from config.api.errors import Unauthorized
from config.api.requests import client_address
from config.api.surface import AddressLimitedSurface
from config.errors import Forbidden
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.keys import WORKSPACE_PREFIX, WorkspaceCaller, authenticate_workspace_key

WORKSPACE_GONE = "The workspace for this API key no longer exists."


class APIDisabled(Forbidden):
    message = "API access is disabled for this installation."


class WorkspaceSuspended(Forbidden):
    message = "This workspace is suspended."


class WorkspaceSurface(AddressLimitedSurface[WorkspaceCaller]):
    """The caller is a workspace; whatever a view looks up starts at `self.workspace`."""

    surface = "workspace"
    key_prefix = WORKSPACE_PREFIX
    switched_off = APIDisabled
    limit_alias = True

    def switch_is_on(self) -> bool:
        return switch_is_on(Switch.Name.WORKSPACE_API)

    def resolve_key(self, digest: bytes) -> WorkspaceCaller | None:
        request = self.request._request
        caller = authenticate_workspace_key(digest, address=client_address(request))
        if caller is None or caller.workspace is None:
            return caller
        is_here = host_serves(request, {caller.workspace.agency_id})
        return caller if is_here else None

    def check_caller(self, caller: WorkspaceCaller) -> None:
        if caller.workspace is None:
            raise Unauthorized(WORKSPACE_GONE)
        if caller.is_suspended:
            raise WorkspaceSuspended

    @property
    def workspace(self) -> Workspace:
        if self.caller.workspace is None:
            raise Unauthorized(WORKSPACE_GONE)
        return self.caller.workspace

    @property
    def principal(self) -> str:
        """Whose idempotency keys these are: the workspace's, whichever of its API keys is used."""
        return f"workspace:{self.workspace.pk}"

    @property
    def actor(self) -> Actor:
        caller = self.caller
        return request_actor(self.request._request, kind="workspace_key", id=caller.key_uuid, label=caller.key_name)


class WorkspaceViewSet(ViewSetMixin, WorkspaceSurface):
    """A set of views of the workspace surface."""
