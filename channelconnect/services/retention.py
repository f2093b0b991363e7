"""How long ended connect sessions, ended subscriptions, providers' callbacks and uploads are kept."""

from datetime import timedelta

from django.conf import settings

from config.retention import ExpiredRows

KEPT = timedelta(days=settings.CONNECT_SESSIONS_KEPT_DAYS)
RULES = (
    ExpiredRows("channelconnect_connectsession", "ended_at", KEPT).rule("connect_sessions"),
    ExpiredRows("channelconnect_unsubscription", "ended_at", KEPT).rule("unsubscriptions"),
    ExpiredRows(
        "channelconnect_providernotice", "received_at", timedelta(days=settings.PROVIDER_NOTICES_KEPT_DAYS)
    ).rule("provider_notices"),
    ExpiredRows("channelconnect_mediaupload", "uploaded_at", timedelta(days=30)).rule("media_uploads"),
    # Changes of messages that never arrived.
    ExpiredRows("conversations_parkedchange", "parked_at", timedelta(days=1)).rule("parked_changes"),
)
