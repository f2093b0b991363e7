"""Adding from the library: several at once, the pack's industry first, and back to the same place."""

import re
from typing import Any

import pytest
from django.test import Client

from tests import furnished
from tests.agency.console.browsers import flashes, text
from tests.packs.client import PackClient
from tests.packs.small_library import ASSISTANT, BOOKING, WELCOME, extra

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db


def add(browser: Client, pack: str, *items: str, **more: str) -> Any:
    return browser.post(f"/console/packs/{pack}/add", {"template_id": items, **more}, follow=True)


def test_several_are_added_at_once_in_the_order_of_the_page(packs: PackClient, admin: Client) -> None:
    pack = packs.new()
    answer = add(admin, pack, extra(2), BOOKING, extra(1), query="page=1&search=e")
    assert flashes(answer) == ["3 automations were added: Extra 2, Book a visit, Extra 1."]
    assert packs.names(pack) == ["Extra 2", "Book a visit", "Extra 1"]
    assert answer.redirect_chain[-1][0].endswith(f"/library?page=1&search=e#item-{extra(2)}")
    assert f'id="item-{extra(2)}"' in answer.content.decode()


def test_what_cannot_be_added_is_named_and_the_others_are_added(packs: PackClient, admin: Client) -> None:
    pack = packs.with_entries(WELCOME)
    answer = add(admin, pack, ASSISTANT, BOOKING, "no-such", BOOKING)
    assert packs.names(pack) == ["Welcome everybody", "Book a visit"]
    shown = flashes(answer)
    assert shown[0] == "Book a visit was added."
    assert shown[1].startswith("Assistant: ")
    assert len(shown) == 3


def test_nine_fit_and_the_tenth_is_refused(packs: PackClient, admin: Client) -> None:
    pack = packs.new()
    answer = add(admin, pack, *(extra(number) for number in range(1, 12)))
    assert len(packs.names(pack)) == 9
    assert len(flashes(answer)) == 3


def test_nothing_that_is_not_there_is_added(packs: PackClient, admin: Client) -> None:
    pack = packs.new()
    nothing: tuple[list[str], ...] = ([], [""], ["x" * 500], ["\0"])
    for items in nothing:
        assert add(admin, pack, *items).status_code == 200, items
    assert packs.names(pack) == []


def test_sent_twice_it_adds_nothing_more(packs: PackClient, admin: Client) -> None:
    pack = packs.new()
    for _ in range(2):
        add(admin, pack, BOOKING, extra(1))
    assert packs.names(pack) == ["Book a visit", "Extra 1"]


def industries(browser: Client, pack: str) -> list[str]:
    page = browser.get(f"/console/packs/{pack}/library").content.decode()
    return re.findall(r'class="badges"><span class="badge">(.*?)</span>', page)


def test_the_pack_s_industry_comes_first(admin: Client, packs: PackClient, settings: Any) -> None:
    settings.PACK_LIBRARY = settings.BASE_DIR / "packs" / "library"
    for industry, label in (("salons", "Salons"), ("real_estate", "Real estate")):
        found = industries(admin, packs.new(industry=industry))
        own = sum(one == label for one in found)
        assert found[:own] == [label] * own
        assert 4 <= own < len(found)


def test_a_new_pack_goes_on_to_the_library(admin: Client) -> None:
    answer = admin.post("/console/packs/new", {"name": "Starter"}, follow=True)
    assert "Add from the library 0 of 9 in the pack" in text(answer)


def test_it_is_filtered_as_every_list_is(packs: PackClient, admin: Client) -> None:
    path = f"/console/packs/{packs.new()}/library"
    shown = admin.get(f"{path}?search=visit&ai=no")
    content = shown.content.decode()
    assert re.findall(r'class="entry-head">.*?<label for="pick-[^"]*">(.*?)</label>', content) == [
        "Book a visit",
        "Remind of a visit",
    ]
    assert f'A.I.: Without</span><a href="{path}?search=visit"' in content
    assert "data-filters" in content
    assert "Save this view" not in text(shown)
    for query in ("industry=x", "channel=x", "requires=%00", "ai=yes&search=visit"):
        assert "Nothing in the library matches" in text(admin.get(f"{path}?{query}")), query
    assert '<option value="">With or without</option>' in content
