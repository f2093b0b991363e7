"""An agency's settings for sign-up: whether it is on, with which plan, and what new customers agree to."""

import re
from typing import TypedDict, Unpack

from django.db import transaction

from agency.actors import Actor
from agency.models import Agency, Plan, SignUpSettings
from agency.models.people.sign_up import LONGEST_LINK
from agency.services.activity import record_activity
from agency.services.catalogue import choose_default_plan, default_plan_of
from config.errors import InvalidInput
from config.http.guard import URLRefused, check_without_lookup, parse_target

FRAGMENT = re.compile(r"[A-Za-z0-9!$%&'()*+,./:;=?@_~-]*", re.ASCII)
LINKS = ("terms_url", "privacy_url")


class SignUpNeedsPlan(InvalidInput):
    field = "plan"
    message = "Choose the plan that new customers take."


class LinkRefused(InvalidInput):
    """The message says what is wrong with the address, and the field which address it is."""


class SignUpChanges(TypedDict, total=False):
    """What can be set besides the plan; what is not named stays."""

    is_on: bool
    allows_further_workspaces: bool
    terms_url: str
    privacy_url: str


def sign_up_settings_of(agency: Agency) -> SignUpSettings:
    """Return the agency's settings; if none were saved, everything is off."""
    return SignUpSettings.objects.filter(agency=agency).first() or SignUpSettings(agency=agency)


def open_sign_up_of(agency: Agency) -> SignUpSettings | None:
    """Return the settings of an agency if anybody may sign up there now, else None."""
    settings = sign_up_settings_of(agency)
    is_open = settings.is_on and agency.is_active and default_plan_of(agency) is not None
    return settings if is_open else None


@transaction.atomic
def change_sign_up(*, agency: Agency, plan: Plan | None, by: Actor, **changes: Unpack[SignUpChanges]) -> SignUpSettings:
    """Change the named settings, and make this plan the default of new sub-accounts.

    Raises `SignUpNeedsPlan`, `LinkRefused` and, for a plan that was archived meanwhile, `PlanNotFound`.
    """
    for field in LINKS:
        if field in changes:
            changes[field] = checked_link(changes[field], field=field)  # type: ignore[literal-required]  # one of both
    Agency.objects.select_for_update(no_key=True).only("pk").get(pk=agency.pk)
    settings = sign_up_settings_of(agency)
    made = {
        field: (getattr(settings, field), value)
        for field, value in changes.items()
        if getattr(settings, field) != value
    }
    for field in made:
        setattr(settings, field, changes[field])  # type: ignore[literal-required]  # they are its own
    if plan is None and (settings.is_on or settings.allows_further_workspaces):
        raise SignUpNeedsPlan
    if made:
        settings.save()
        target = ("sign_up", agency.uuid, agency.name)
        record_activity(by=by, action="sign_up.changed", agency_id=agency.pk, target=target, changes=made)
    choose_default_plan(agency=agency, plan=plan, by=by)
    return settings


def checked_link(text: str, *, field: str) -> str:
    """Return an address to which customers may be sent, in ASCII: https, and of a public host.

    Raises `LinkRefused`.
    """
    if not text.strip():
        return ""
    address, mark, fragment = text.strip().partition("#")
    try:
        target = parse_target(address)
        check_without_lookup(target)
    except URLRefused as refusal:
        raise LinkRefused(str(refusal), field=field) from refusal
    if target.scheme != "https":
        raise LinkRefused("The URL must start with https://.", field=field)
    link = f"{target.url}{mark}{fragment}"
    if len(link) > LONGEST_LINK or not FRAGMENT.fullmatch(fragment):
        raise LinkRefused(f"The URL must be one of at most {LONGEST_LINK} plain characters.", field=field)
    return link
