"""Message templates: stored as the provider lists them, and checked before they are sent."""

from channelconnect.services.templates.checking import (
    check_template,
    find_template,
    has_approved_template,
    is_marketing_template,
)
from channelconnect.services.templates.choosing import choices_of_channel
from channelconnect.services.templates.listing import shown_templates
from channelconnect.services.templates.syncing import OnlyOnWhatsApp, request_sync, sync_changed, sync_next, sync_soon

__all__ = [
    "OnlyOnWhatsApp",
    "check_template",
    "choices_of_channel",
    "find_template",
    "has_approved_template",
    "is_marketing_template",
    "request_sync",
    "shown_templates",
    "sync_changed",
    "sync_next",
    "sync_soon",
]
