"""The guides of the help about the agency's own pages, and those for support, which are in English as its admin is."""

from typing import Final

from django.utils.translation import gettext_lazy as _

from agency.pages.help import CONSOLE, SUPPORT, Guide

GUIDES: Final = (
    Guide(
        area=CONSOLE,
        slug="first-steps",
        title=_("First steps"),
        summary=_("From an empty console to your first customer."),
        order=10,
        pages=("home", "find", "design", "notifications", "notification-settings"),
        related=("sub-accounts", "plans", "brand"),
    ),
    Guide(
        area=CONSOLE,
        slug="plans",
        title=_("Plans and add-ons"),
        summary=_("Decide how much each customer may use."),
        order=30,
        pages=("plans", "addons"),
        related=("sub-accounts", "packs"),
    ),
    Guide(
        area=CONSOLE,
        slug="team",
        title=_("Team and roles"),
        summary=_("Invite colleagues, and decide what they may do."),
        order=60,
        pages=("team",),
        related=("security", "activity"),
    ),
    Guide(
        area=CONSOLE,
        slug="api-keys",
        title=_("API keys"),
        summary=_("Let your own systems create and manage sub-accounts."),
        order=70,
        pages=("api-keys",),
        related=("webhooks", "sub-accounts"),
    ),
    Guide(
        area=CONSOLE,
        slug="brand",
        title=_("Brand, domains and sign-up"),
        summary=_("Your customers see your name, your colours and your address."),
        order=90,
        pages=("brand", "domains", "sign-up"),
        related=("mail", "first-steps"),
    ),
    Guide(
        area=CONSOLE,
        slug="mail",
        title=_("E-mail from your agency"),
        summary=_("Invitations, links and notifications come from your agency."),
        order=100,
        pages=("mail",),
        related=("brand",),
    ),
    Guide(
        area=CONSOLE,
        slug="activity",
        title=_("Activity, bulk changes and exports"),
        summary=_("See who changed what, and change or export many things at once."),
        order=110,
        pages=("activity", "bulk-operations", "exports"),
        related=("team", "sub-accounts"),
    ),
    Guide(
        area=CONSOLE,
        slug="security",
        title=_("Security and two-factor"),
        summary=_("Protect your team's accounts with a second step at sign-in."),
        order=120,
        pages=("team-two-factor",),
        related=("team",),
    ),
    Guide(
        area=SUPPORT,
        slug="finding",
        title="Finding what a customer means",
        summary="From an e-mail address, a host or an ID to the right record.",
        order=10,
        related=("suspending", "rights"),
    ),
    Guide(
        area=SUPPORT,
        slug="suspending",
        title="Suspending, and what fails",
        summary="Stop an agency, and find out why something does not work.",
        order=20,
        related=("finding", "redelivery"),
    ),
    Guide(
        area=SUPPORT,
        slug="redelivery",
        title="Redelivery and restarting",
        summary="Send what did not arrive, and go on with jobs that broke off.",
        order=30,
        related=("finding", "suspending"),
    ),
    Guide(
        area=SUPPORT,
        slug="rights",
        title="Rights and two-factor",
        summary="Your permissions, and how to help people sign in.",
        order=40,
        related=("finding",),
    ),
)
