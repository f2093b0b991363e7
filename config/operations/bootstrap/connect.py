"""Channel connect for a first look: switched on, with a return URL. In production our support switches it on."""

from django.conf import settings

from agency.models import Agency
from channelconnect.models import ConnectSettings
from channelconnect.services import set_return_urls, switch_connect
from config.operations.bootstrap.actor import BOOTSTRAP

RETURN_URL = "https://app.example.com/connected"


def ensure_connect(agency: Agency) -> None:
    """Switch channel connect on outside production, where the agency has no settings for it yet."""
    if settings.PRODUCTION or ConnectSettings.objects.filter(agency=agency).exists():
        return
    switch_connect(agency=agency, enabled=True, reason="First look", by=BOOTSTRAP)
    set_return_urls(agency=agency, return_urls=[RETURN_URL], by=BOOTSTRAP)
