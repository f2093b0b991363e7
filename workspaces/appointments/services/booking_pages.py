"""The booking page of a workspace: its address, whether it is on, and what it says."""

import re
from datetime import datetime
from typing import Final, TypedDict, Unpack

from django.db import IntegrityError, transaction
from django.utils.text import slugify

from agency.actors import Actor
from agency.services.hosts import base_url_of
from config.db import violated_constraint
from config.errors import InvalidInput, NotFound
from workspaces.appointments.models import BookingPage
from workspaces.appointments.models.booking_pages import LONGEST_CANCEL_NOTICE, LONGEST_INTRODUCTION, LONGEST_SLUG
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import record_workspace_activity
from workspaces.subaccounts.services.recording import lock_workspace

PLAIN: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
SHORTEST_SLUG: Final = 3
# `/book/manage/…` and `/book/seat/…` are the addresses of the visitors' appointments and seats.
RESERVED: Final = frozenset({"manage", "seat"})
MOST_SUFFIXES: Final = 50
FIELDS: Final = ("slug", "enabled", "introduction", "cancel_notice_minutes", "offers_classes")


class BookingPageChanges(TypedDict, total=False):
    """The fields of a booking page. A field left out stays."""

    slug: str
    enabled: bool
    introduction: str
    cancel_notice_minutes: int
    offers_classes: bool


class BookingPageNotFound(NotFound):
    message = "Booking page not found."


class SlugRefused(InvalidInput):
    field = "slug"
    message = "Write 3 to 60 small letters a to z, digits and single hyphens."


class SlugTaken(InvalidInput):
    field = "slug"
    message = "Another booking page has this address."


class IntroductionTooLong(InvalidInput):
    field = "introduction"
    message = "Write at most 2,000 characters."


class CancelNoticeTooLong(InvalidInput):
    field = "cancel_notice_minutes"
    message = "Choose at most 30 days."


def booking_page_of(workspace: Workspace) -> BookingPage | None:
    """Return the workspace's booking page, on or off; None if nobody has set one up."""
    return BookingPage.objects.filter(workspace=workspace).first()


def booking_url(workspace: Workspace) -> str | None:
    """Return the address of the workspace's booking page; None while it is off."""
    # Without a page this is the default. A caller that reads many workspaces has joined their pages.
    page: BookingPage | None = getattr(workspace, "booking_page", None)
    return address_of(workspace, page.slug) if page and page.enabled else None


def address_of(workspace: Workspace, slug: str) -> str:
    """Return the address of a booking page on its agency's host."""
    return f"{base_url_of(workspace.agency_id)}/book/{slug}"


@transaction.atomic
def change_booking_page(
    *, workspace: Workspace, now: datetime, by: Actor, **changes: Unpack[BookingPageChanges]
) -> BookingPage:
    """Change the workspace's booking page. The first change makes it, with an address from the workspace's name.

    Raises `SlugRefused`, `SlugTaken`, `IntroductionTooLong` and `CancelNoticeTooLong`.
    """
    _check(changes)
    locked = lock_workspace(workspace)
    found = booking_page_of(locked)
    page = found or BookingPage(workspace=locked, slug=changes.get("slug") or free_slug(locked.name))
    before = {name: getattr(page, name) for name in FIELDS}
    for name, value in changes.items():
        setattr(page, name, value)
    changed = {name: (before[name], getattr(page, name)) for name in FIELDS if before[name] != getattr(page, name)}
    if found and not changed:
        return page
    page.changed_at = now
    _save(page, is_new=found is None)
    workspace.booking_page = page  # the caller's workspace remembers the page of before, or that there was none
    record_workspace_activity(workspace=locked, action="booking_page.changed", by=by, changes=changed)
    return page


def _check(changes: BookingPageChanges) -> None:
    slug = changes.get("slug")
    if slug is not None:
        is_plain = PLAIN.fullmatch(slug) and SHORTEST_SLUG <= len(slug) <= LONGEST_SLUG
        if not is_plain or slug in RESERVED:
            raise SlugRefused
    if len(changes.get("introduction", "")) > LONGEST_INTRODUCTION:
        raise IntroductionTooLong
    if not 0 <= changes.get("cancel_notice_minutes", 0) <= LONGEST_CANCEL_NOTICE:
        raise CancelNoticeTooLong


def free_slug(name: str) -> str:
    """Return an address that no page has yet: from the name, with a number behind it if the plain one is taken."""
    plain = slugify(name)[: LONGEST_SLUG - 4].strip("-_").replace("_", "-")
    plain = re.sub("-+", "-", plain)
    if len(plain) < SHORTEST_SLUG or plain in RESERVED:
        plain = f"book-{plain}".strip("-")
    wanted = [plain, *(f"{plain}-{number}" for number in range(2, MOST_SUFFIXES))]
    taken = set(BookingPage.objects.filter(slug__in=wanted).values_list("slug", flat=True))
    free = next((slug for slug in wanted if slug not in taken), None)
    if free is None:
        raise SlugTaken
    return free


def _save(page: BookingPage, *, is_new: bool) -> None:
    try:
        with transaction.atomic():
            page.save(force_insert=is_new)
    except IntegrityError as error:
        if violated_constraint(error).startswith("appointments_bookingpage_slug"):
            raise SlugTaken from error
        raise
