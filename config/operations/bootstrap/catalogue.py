"""The plans and add-ons of a new agency."""

from typing import Any, NamedTuple

from agency.limits import build
from agency.models import Agency, Plan
from agency.services import create_addon, create_plan
from config.operations.bootstrap.actor import BOOTSTRAP


class Offer(NamedTuple):
    name: str
    description: str
    limits: dict[str, int | None]

    def values(self) -> dict[str, Any]:
        """Return the services' arguments. A limit that is not named is 0."""
        return {"name": self.name, "description": self.description, "limits": build(self.limits, missing=0)}


PLANS = (
    Offer(
        "Starter",
        "For one location that answers its customers in one place.",
        {
            "contacts": 1_000,
            "team_members": 3,
            "broadcasts_per_month": 10,
            "channels.whatsapp": 1,
            "channels.facebook": 1,
            "channels.instagram": 1,
            "channels.livechat": 1,
        },
    ),
    Offer(
        "Growth",
        "For teams that also send broadcasts and run automations.",
        {
            "contacts": 10_000,
            "team_members": 10,
            "broadcasts_per_month": 100,
            "channels.whatsapp": 3,
            "channels.facebook": 3,
            "channels.instagram": 3,
            "channels.sms": 1,
            "channels.tiktok": 1,
            "channels.telegram": 1,
            "channels.livechat": 3,
            "channels.gbp": 3,
        },
    ),
)
ADDONS = (
    Offer("Extra WhatsApp number", "One more WhatsApp channel.", {"channels.whatsapp": 1}),
    Offer("5,000 more contacts", "Room for 5,000 more contacts.", {"contacts": 5_000}),
)


def ensure_catalogue(agency: Agency) -> None:
    """Make the usual plans if the agency has none, and the usual add-ons if it has none. Archived ones count."""
    if not agency.plans.exists():
        for offer in PLANS:
            create_plan(agency=agency, by=BOOTSTRAP, **offer.values())
    if not agency.addons.exists():
        for offer in ADDONS:
            create_addon(agency=agency, by=BOOTSTRAP, **offer.values())


def last_plan(agency: Agency) -> Plan | None:
    """Return the newest plan that can still be assigned. Of the usual ones it is the one with the most room."""
    return agency.plans.filter(archived_at=None).order_by("id").last()
