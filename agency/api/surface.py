"""The agency surface: the base class of every view below `/api/agency/v1`."""

from django.conf import settings
from rest_framework.viewsets import ViewSetMixin

from agency.actors import Actor
from agency.models import Agency, Switch
from agency.pages.branding.host import host_serves
from agency.request_actor import request_actor
from agency.services.authentication import AgencyCaller, authenticate_agency_key
from agency.services.keys import AGENCY_PREFIX
from agency.services.switches import switch_is_on
from config.api.requests import client_address
from config.api.surface import KeyLimitedSurface, KeyLookup
from config.api.throttling import RateLimit
from config.errors import FeatureDisabled, Forbidden


class SurfaceDisabled(FeatureDisabled):
    message = "The reseller API is currently disabled."


class AgencyNotActive(Forbidden):
    message = "This agency is not active."


class AgencySurface(KeyLimitedSurface[AgencyCaller]):
    """The caller is an agency; whatever a view looks up starts at `self.agency`."""

    surface = "agency"
    key_prefix = AGENCY_PREFIX
    switched_off = SurfaceDisabled

    def look_up(self, digest: bytes | None) -> KeyLookup[AgencyCaller]:
        request = self.request._request
        caller = None if digest is None else authenticate_agency_key(digest, address=client_address(request))
        if caller is None:
            return KeyLookup(switch_is_on(Switch.Name.AGENCY_API), None)
        is_here = host_serves(request, {caller.agency.pk})
        return KeyLookup(caller.surface_is_on, caller if is_here else None)

    def check_caller(self, caller: AgencyCaller) -> None:
        if not caller.agency.is_active:
            raise AgencyNotActive

    def key_limit(self, caller: AgencyCaller) -> RateLimit:
        return RateLimit(f"agency:key:{caller.key_id}", settings.AGENCY_KEY_LIMIT)

    @property
    def agency(self) -> Agency:
        return self.caller.agency

    @property
    def principal(self) -> str:
        """Whose idempotency keys these are: the agency's, whichever of its API keys is used."""
        return f"agency:{self.agency.pk}"

    @property
    def actor(self) -> Actor:
        caller = self.caller
        return request_actor(self.request._request, kind="agency_key", id=caller.key_uuid, label=caller.key_name)


class AgencyViewSet(ViewSetMixin, AgencySurface):
    """A set of views of the agency surface."""
