"""Channel connect for the agency to try things with; elsewhere support switches it on, agency by agency."""

from django.conf import settings

from agency.models import Agency
from channelconnect.models import ConnectSettings
from channelconnect.services import set_return_urls, switch_connect
from config.operations.bootstrap.actor import BOOTSTRAP

RETURN_URL = "https://app.example.com/connected"


def ensure_connecting(agency: Agency) -> None:
    """Switch the feature on, with one return URL, where nothing was ever set and this is not production."""
    if settings.PRODUCTION or ConnectSettings.objects.filter(agency=agency).exists():
        return
    switch_connect(agency=agency, enabled=True, reason="To try it with the sandbox provider", by=BOOTSTRAP)
    set_return_urls(agency=agency, return_urls=[RETURN_URL], by=BOOTSTRAP)
