"""How long ended connect sessions, ended subscriptions, providers' callbacks and uploads are kept."""

from datetime import timedelta

from django.conf import settings

from config.retention.rules import OldRows

KEPT = timedelta(days=settings.CONNECT_SESSIONS_KEPT_DAYS)
RULES = (
    OldRows("channelconnect_connectsession", "ended_at", KEPT).rule("connect_sessions"),
    OldRows("channelconnect_unsubscription", "ended_at", KEPT).rule("unsubscriptions"),
    OldRows("channelconnect_providernotice", "received_at", timedelta(days=settings.PROVIDER_NOTICES_KEPT_DAYS)).rule(
        "provider_notices"
    ),
    OldRows("channelconnect_mediaupload", "uploaded_at", timedelta(days=30)).rule("media_uploads"),
    # Changes of messages that never arrived.
    OldRows("conversations_parkedchange", "parked_at", timedelta(days=1)).rule("parked_changes"),
)
