"""An agency-like and a workspace-like surface over callers kept in this process."""

from dataclasses import dataclass, field

from django.conf import settings

from config.api.errors import Unauthorized
from config.api.keys import key_digest, new_key
from config.api.surface import AddressLimitedSurface, KeyLimitedSurface
from config.api.throttling import RateLimit
from config.errors import FeatureDisabled, Forbidden


@dataclass(slots=True)
class Holder:
    name: str
    active: bool = True
    gone: bool = False


@dataclass(slots=True)
class SurfaceState:
    """What the surfaces know: whether they are open, and who holds which key."""

    open: bool = True
    holders: dict[bytes, Holder] = field(default_factory=dict)
    looked_up: int = 0
    prepared: list[int] = field(default_factory=list)

    def issue_key(self, prefix: str, holder: Holder) -> str:
        key = new_key(prefix)
        self.holders[key_digest(key)] = holder
        return key


surface_state = SurfaceState()


class AgencyIsOff(FeatureDisabled):
    message = "The reseller API is currently disabled."


class WorkspaceIsOff(Forbidden):
    message = "API access is disabled for this installation."


class AgencyTestSurface(KeyLimitedSurface[Holder]):
    @property
    def principal(self) -> str:
        return f"test:{self.caller.name}"

    surface = "agency-test"
    key_prefix = "svc_ag_"
    switched_off = AgencyIsOff

    def switch_is_on(self) -> bool:
        return surface_state.open

    def resolve_key(self, digest: bytes) -> Holder | None:
        surface_state.looked_up += 1
        return surface_state.holders.get(digest)

    def check_caller(self, caller: Holder) -> None:
        if not caller.active:
            raise Forbidden("This agency is not active.")

    def key_limit(self, caller: Holder) -> RateLimit:
        return RateLimit(f"agency-test:key:{caller.name}", settings.AGENCY_KEY_LIMIT)


class WorkspaceTestSurface(AddressLimitedSurface[Holder]):
    surface = "workspace-test"
    key_prefix = "svc_"
    switched_off = WorkspaceIsOff
    limit_alias = True

    def switch_is_on(self) -> bool:
        return surface_state.open

    def resolve_key(self, digest: bytes) -> Holder | None:
        surface_state.looked_up += 1
        return surface_state.holders.get(digest)

    def check_caller(self, caller: Holder) -> None:
        if caller.gone:
            raise Unauthorized("The workspace for this API key no longer exists.")
        if not caller.active:
            raise Forbidden("This workspace is suspended.")
