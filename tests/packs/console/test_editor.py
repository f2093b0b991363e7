"""The editor: adding from the library, changing, ordering and removing a pack's automations."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests import furnished
from tests.agency.console.browsers import flashes, text
from tests.packs.client import PackClient
from tests.packs.small_library import ASSISTANT, BOOKING, REVIEWS, STATUS, WELCOME, extra

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db


def add(browser: Client, pack: str, item: str, **more: str) -> Any:
    return browser.post(f"/console/packs/{pack}/add", {"template_id": item, **more}, follow=True)


def library_page(browser: Client, pack: str, **filters: str) -> str:
    return text(browser.get(f"/console/packs/{pack}/library", filters))


def test_an_automation_is_added_from_the_library(packs: PackClient, admin: Client) -> None:
    pack = packs.new()
    answer = add(admin, pack, BOOKING, query="search=visit")
    assert flashes(answer) == ["Book a visit was added."]
    assert answer.redirect_chain == [(f"/console/packs/{pack}/library?search=visit#item-{BOOKING}", 302)]
    assert packs.names(pack) == ["Book a visit"]
    shown = text(admin.get(f"/console/packs/{pack}"))
    assert "Automations 1 of 9" in shown
    assert "Needs: a service or product to sell, working hours" in shown
    assert "cannot run yet" not in shown


def test_the_editor_and_the_library_speak_the_reader_s_language(packs: PackClient, admin: Client) -> None:
    german = {"Accept-Language": "de"}
    pack = packs.with_entries(BOOKING)
    editor, library = (
        text(admin.get(f"/console/packs/{pack}{page}", {"search": search}, headers=german))
        for page, search in (("", ""), ("/library", "Nachricht mit einem Stichwort"))
    )
    assert "Beginnt mit: Nachricht mit einem Stichwort" in editor
    assert "Beginnt mit: Nachricht mit einem Stichwort" in library


def test_an_automation_that_cannot_run_yet_is_added_and_says_why(packs: PackClient, admin: Client) -> None:
    pack = packs.with_entries(BOOKING)
    reason = "Cannot run yet: Orders are not available yet (Step 1: Tell the order's status)."
    assert reason in library_page(admin, pack, search="order")
    assert "Cannot run yet" not in library_page(admin, pack, search="Book a visit")
    add(admin, pack, STATUS)
    shown = text(admin.get(f"/console/packs/{pack}"))
    assert "1 automation cannot run yet. Customers can add it, but not switch it on." in shown
    assert reason in shown


FOUND: tuple[tuple[dict[str, str], set[str]], ...] = (
    ({"search": "VISIT"}, {"Book a visit", "Remind of a visit"}),
    ({"channel": "gbp"}, {"Answer reviews"}),
    ({"requires": "template"}, {"Remind of a visit"}),
    ({"ai": "yes"}, {"Assistant"}),
    ({"industry": "salons", "search": "reviews"}, {"Answer reviews"}),
    ({"industry": "automotive"}, set()),
    ({"search": "\0"}, set()),
    ({"channel": "pigeon"}, set()),
)


def test_the_library_is_searched_and_filtered(packs: PackClient, admin: Client) -> None:
    names = {"Book a visit", "Remind of a visit", "Answer reviews", "Assistant", "Welcome everybody", "Extra 1"}
    pack = packs.new()
    for filters, found in FOUND:
        shown = library_page(admin, pack, **filters)
        assert {name for name in names if f"{name} Salons" in shown} == found, filters
        assert ("Nothing in the library matches" in shown) == (not found), filters


def test_the_library_says_why_something_cannot_be_added(packs: PackClient, admin: Client) -> None:
    pack = packs.with_entries(WELCOME)
    shown = library_page(admin, pack, search="Welcome")
    assert "In this pack" in shown
    assert "What it does 1. Send a text Hello {{contact.first_name}}!" in shown
    assert "The pack has one that answers everything" in library_page(admin, pack, search="Assistant")
    for number in range(1, 9):
        packs.add(pack, extra(number))
    assert "The pack is full" in library_page(admin, pack, search="visit")
    assert "The pack is full" in text(admin.get(f"/console/packs/{pack}"))


def test_what_cannot_be_added_is_refused_with_its_reason(packs: PackClient, admin: Client) -> None:
    pack = packs.with_entries(WELCOME)
    for item, message in (
        (WELCOME, "This library automation is already in the pack."),
        (ASSISTANT, "This pack already has an automation that answers every message or comment."),
        ("no-such-item", "This automation is not in the library."),
    ):
        assert flashes(add(admin, pack, item)) == [message]
    assert packs.names(pack) == ["Welcome everybody"]


def test_an_entry_is_edited(packs: PackClient, admin: Client) -> None:
    pack = packs.with_entries(BOOKING, extra(1))
    entry = packs.read(pack)["entries"][0]
    path = f"/console/packs/{pack}/entries/{entry['uuid']}"
    values = {"name": "Reserve", "description": "For you", "tier": "optional", "requires": ["payment"]}
    assert "Eine verbundene Zahlungsart" in text(admin.get(path, HTTP_ACCEPT_LANGUAGE="de"))
    admin.post(path, values)
    changed = packs.read(pack)["entries"][0]
    assert {name: changed[name] for name in values} == values
    refused = admin.post(path, {**values, "name": "EXTRA 1"})
    assert refused.status_code == 422
    assert "An automation of this name is already in the pack." in text(refused)
    admin.post(path, {**values, "name": "", "description": ""})
    restored = packs.read(pack)["entries"][0]
    assert (restored["name_override"], restored["description_override"]) == (None, None)


def test_saving_without_a_change_freezes_no_original(packs: PackClient, admin: Client) -> None:
    pack = packs.with_entries(BOOKING)
    entry = packs.read(pack)["entries"][0]
    shown = {name: entry[name] for name in ("name", "description", "tier", "requires")}
    admin.post(f"/console/packs/{pack}/entries/{entry['uuid']}", shown)
    assert packs.read(pack)["entries"][0] == entry


def test_entries_are_moved_up_and_down(packs: PackClient, admin: Client) -> None:
    pack = packs.with_entries(extra(1), extra(2), extra(3))
    ids = [entry["uuid"] for entry in packs.read(pack)["entries"]]
    answer = admin.post(f"/console/packs/{pack}/order", {"order": ",".join(ids), "down": ids[0]})
    assert answer["Location"] == f"/console/packs/{pack}#row-{ids[0]}"
    assert packs.names(pack) == ["Extra 2", "Extra 1", "Extra 3"]


def test_the_last_automation_takes_the_publication_with_it(packs: PackClient, admin: Client) -> None:
    pack = packs.with_entries(extra(1), extra(2), status="published")
    first, last = (f"/console/packs/{pack}/entries/{entry['uuid']}/remove" for entry in packs.read(pack)["entries"])
    assert "Removing it also unpublishes the pack." not in text(admin.get(first))
    assert flashes(admin.post(first, follow=True)) == ["Extra 1 was removed."]
    assert "Removing it also unpublishes the pack." in text(admin.get(last))
    assert "the pack was unpublished. Customers no longer see it" in flashes(admin.post(last, follow=True))[0]
    assert packs.read(pack)["status"] == "draft"


def test_a_retired_automation_is_marked_missing(packs: PackClient, admin: Client, retire: Callable[..., None]) -> None:
    pack = packs.with_entries(BOOKING, REVIEWS)
    retire(BOOKING)
    shown = text(admin.get(f"/console/packs/{pack}"))
    assert "Book a visit Missing" in shown
    assert "1 automation is no longer in the library." in shown
    assert "Answer reviews Missing" not in shown


def test_the_editor_costs_the_same_however_full_the_pack_is(packs: PackClient, admin: Client) -> None:
    pack = packs.with_entries(extra(1))
    admin.get(f"/console/packs/{pack}")
    with CaptureQueriesContext(connection) as few:
        admin.get(f"/console/packs/{pack}")
    for number in range(2, 10):
        packs.add(pack, extra(number))
    with CaptureQueriesContext(connection) as many:
        admin.get(f"/console/packs/{pack}")
    # Three of them read the results.
    assert len(many) == len(few) <= 11
