"""How long ended connect sessions and providers' callbacks are kept."""

from datetime import timedelta

from django.conf import settings

from config.retention import OldRows

# A session stays a day longer than the Idempotency-Key that made it, so that no key leads to nothing.
RULES = (
    OldRows("channelconnect_connectsession", "ended_at", timedelta(days=settings.CONNECT_SESSIONS_KEPT_DAYS + 1)).rule(
        "connect_sessions"
    ),
    OldRows("channelconnect_providernotice", "received_at", timedelta(days=settings.PROVIDER_NOTICES_KEPT_DAYS)).rule(
        "provider_notices"
    ),
)
