"""Limits of plans and add-ons: their form, their sum and their labels.

The form is `{contacts, team_members, broadcasts_per_month, channels: {<channel type>: …}}`; each value is a whole
number of 0 or more, or None for no limit.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

Limits = dict[str, Any]

COUNTS = ("contacts", "team_members", "broadcasts_per_month")
CHANNEL_TYPES = ("whatsapp", "facebook", "instagram", "sms", "tiktok", "telegram", "livechat", "gbp")
LABELS = {
    "contacts": _("contacts"),
    "team_members": _("team members"),
    "broadcasts_per_month": _("broadcasts per month"),
    "channels.whatsapp": _("WhatsApp channels"),
    "channels.facebook": _("Messenger channels"),
    "channels.instagram": _("Instagram channels"),
    "channels.sms": _("SMS channels"),
    "channels.tiktok": _("TikTok channels"),
    "channels.telegram": _("Telegram channels"),
    "channels.livechat": _("live chat channels"),
    "channels.gbp": _("Google Business Profile channels"),
}
# The labels where a limit is 1.
SINGULAR_LABELS = {
    "contacts": _("contact"),
    "team_members": _("team member"),
    "broadcasts_per_month": _("broadcast per month"),
    "channels.whatsapp": _("WhatsApp channel"),
    "channels.facebook": _("Messenger channel"),
    "channels.instagram": _("Instagram channel"),
    "channels.sms": _("SMS channel"),
    "channels.tiktok": _("TikTok channel"),
    "channels.telegram": _("Telegram channel"),
    "channels.livechat": _("live chat channel"),
    "channels.gbp": _("Google Business Profile channel"),
}
NAMES = tuple(LABELS)
LARGEST = 2**31 - 1


def value(limits: Mapping[str, Any], name: str) -> int | None:
    """Return one limit by its dotted name, such as `channels.whatsapp`; None means no limit."""
    is_channels = name.startswith("channels.")
    found: int | None = limits["channels"][name.removeprefix("channels.")] if is_channels else limits[name]
    return found


def build(values: Mapping[str, int | None], *, missing: int | None = None) -> Limits:
    """Build the nested form from dotted names; a name that is not given gets `missing`."""
    return {
        **{name: values.get(name, missing) for name in COUNTS},
        "channels": {kind: values.get(f"channels.{kind}", missing) for kind in CHANNEL_TYPES},
    }


def unlimited() -> Limits:
    return build({})


def nothing() -> Limits:
    """The limits of an add-on that adds nothing."""
    return build({}, missing=0)


def total(parts: Iterable[Mapping[str, object]]) -> Limits:
    """Add limits up; if one part has no limit, the sum has none."""
    parts = list(parts)
    sums: dict[str, int | None] = {}
    for name in NAMES:
        values = [value(part, name) for part in parts]
        sums[name] = None if None in values else min(sum(v for v in values if v is not None), LARGEST)
    return build(sums)


def changed(held: Mapping[str, Any], changes: Mapping[str, Any]) -> Limits:
    """Return the limits with these changes, in which any name may be missing."""
    channels = {**held["channels"], **changes.get("channels", {})}
    return in_order({**held, **changes, "channels": channels})


def in_order(limits: Mapping[str, object]) -> Limits:
    """Return the limits with their names in the documented order, which the database does not keep."""
    return build({name: value(limits, name) for name in NAMES})
