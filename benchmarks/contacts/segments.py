"""Measures a segment's size and pages of the list in a workspace with a million contacts."""

import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

from django.utils import timezone

from agency.actors import SYSTEM
from agency.pages.pagination import MOST_COUNTED
from benchmarks.contacts.rows import a_workspace, contacts_in
from benchmarks.figures import Figure
from benchmarks.rounds import interleave, median_ratio
from benchmarks.servers import Bench
from workspaces.contacts.models import Contact, Segment
from workspaces.contacts.models.contacts import newest_page
from workspaces.contacts.services import attach_size, count_contacts, create_segment
from workspaces.contacts.services.listing import newest_of_segment
from workspaces.subaccounts.models import Workspace

TITLE = (
    "A workspace with 1,000,000 contacts: milliseconds to count a segment, and for pages of the list with its total.\n"
    "Ratios are to a bare count of the whole table."
)
CONTACTS = 1_000_000
MOST_MS = 300.0
ROUNDS = 3
FILTERS: dict[str, dict[str, Any]] = {
    "everybody": {},
    "one tag in twenty": {"tags_any": ["Group 7"]},
    "a tag that all have": {"tags_any": ["newsletter"]},
    "two tags": {"tags_all": ["Newsletter", "Group 3"]},
    "none of a tag": {"tags_none": ["Group 3"]},
    "a country, half of them": {"country": "DE"},
    "a time zone": {"timezone": "Europe/Vienna"},
    "a channel, two thirds": {"has_channel": "whatsapp"},
    "a detail, a third": {"attributes": {"plan": "gold"}},
    "two details": {"attributes": {"plan": "gold", "number": "9"}},
    "created this year": {"created_after": "2026-01-01T00:00:00Z"},
    "created this year, in a country": {"created_after": "2026-01-01T00:00:00Z", "country": "DE"},
    "a tag, a country, a detail, this year": {
        "tags_any": ["newsletter"],
        "country": "DE",
        "attributes": {"plan": "gold"},
        "created_after": "2026-01-01T00:00:00Z",
    },
    "all at once": {
        "tags_any": ["Group 7", "Group 8"],
        "tags_none": ["Group 3"],
        "country": "DE",
        "has_channel": "whatsapp",
        "attributes": {"plan": "gold"},
        "created_before": "2027-01-01T00:00:00Z",
    },
}
# The contacts of a segment that the first page of the list looks for, where they are few among all.
NEWEST: dict[str, dict[str, Any]] = {
    "the newest with a detail of one": {"attributes": {"number": "777"}},
    "the newest with a tag of nobody": {"tags_any": ["Nobody"], "country": "DE"},
}
PAGES = {"page 1 of 25": 1, "page 5,000 of 25": 5_000}


def run(_: Bench) -> list[Figure]:
    workspace = a_workspace()
    contacts_in(workspace, CONTACTS)
    segments = {name: _segment(workspace, name, given) for name, given in FILTERS.items()}
    variants: dict[str, Callable[[], float]] = {
        "bare count": _count_ms,
        **{f"segment: {name}": partial(_size_ms, segment) for name, segment in segments.items()},
        **{name: partial(_newest_ms, _segment(workspace, name, given)) for name, given in NEWEST.items()},
        **{name: partial(_page_ms, workspace, number) for name, number in PAGES.items()},
    }
    found = interleave(variants, rounds=ROUNDS)
    return [
        Figure(
            name=name,
            measured=median(found[name]),
            unit="ms",
            ratio=median_ratio(found[name], found["bare count"]),
            at_most=None if name == "bare count" else MOST_MS,
        )
        for name in variants
    ]


def _segment(workspace: Workspace, name: str, given: dict[str, Any]) -> Segment:
    made = create_segment(workspace=workspace, name=name, filter=given, now=timezone.now(), by=SYSTEM)
    return Segment.objects.select_related("workspace").get(pk=made.pk)


def _size_ms(segment: Segment) -> float:
    began = time.perf_counter()
    attach_size(segment)
    return (time.perf_counter() - began) * 1000


def _count_ms() -> float:
    began = time.perf_counter()
    Contact.objects.count()
    return (time.perf_counter() - began) * 1000


def _newest_ms(segment: Segment) -> float:
    began = time.perf_counter()
    newest_of_segment(segment, MOST_COUNTED + 1)
    return (time.perf_counter() - began) * 1000


def _page_ms(workspace: Workspace, number: int) -> float:
    began = time.perf_counter()
    list(newest_page(Contact.objects.of(workspace), (number - 1) * 25, 25))
    count_contacts(workspace)
    return (time.perf_counter() - began) * 1000
