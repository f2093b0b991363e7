"""The guide for the app at Meta names the variables, addresses, permissions and fields that the code has."""

import re

import pytest
from django.conf import settings
from django.urls import reverse

from channelconnect.providers.notices import pages as page_notices
from channelconnect.providers.notices import parsing, whatsapp
from channelconnect.providers.notices.comments import INSTAGRAM_FIELDS, PAGE_FIELDS
from channelconnect.providers.platforms import MESSAGE_FIELDS, Facebook, Instagram, WhatsApp
from tests.deploy.test_variables import read_by_settings
from tools.local import ROOT

PAGE = (ROOT / "docs" / "meta.md").read_text()
# What the network calls a field, and under which name the same stands in a callback.
FIELDS_OF_INSTAGRAM = {
    "messages": "message",
    "messaging_postbacks": "postback",
    "messaging_seen": "read",
    "message_reactions": "reaction",
    "message_edit": "message_edit",
    "messaging_referral": "referral",
}
# They come as messages that another app is handling.
HANDED_OVER = {"messaging_handover", "standby"}


def section(number: int) -> str:
    return PAGE.partition(f"\n## {number}. ")[2].partition("\n## ")[0]


def rows(number: int) -> dict[str, list[str]]:
    """The table of a section: by its first column, the names in each other one."""
    lines = [line.strip("|").split("|") for line in section(number).splitlines() if line.startswith("| ")]
    return {cells[0].strip(" `"): [" ".join(re.findall(r"`(\w+)`", cell)) for cell in cells[1:]] for cells in lines}


def test_it_names_every_variable_of_meta() -> None:
    assert set(re.findall(r"`(META_\w+)`", PAGE)) == {name for name in read_by_settings() if name.startswith("META_")}


def test_it_names_the_version_that_is_the_default() -> None:
    assert f"`{settings.META_GRAPH_VERSION}`" in section(1)


@pytest.mark.parametrize("name", ["connect:callback", "connect:provider-events"])
def test_the_addresses_are_the_product_s(name: str) -> None:
    assert f"`{{PUBLIC_URL}}{reverse(name)}`" in section(2)


@pytest.mark.parametrize("provider", [WhatsApp, Facebook, Instagram])
def test_the_permissions_are_those_that_are_asked_for(provider: type[WhatsApp | Facebook | Instagram]) -> None:
    needed, wanted = rows(3)[provider.platform]
    assert needed.split() == list(provider.needed)
    assert wanted.split() == list(provider.wanted)


def test_every_needed_permission_is_explained_to_the_review() -> None:
    needed = {name for provider in (WhatsApp, Facebook, Instagram) for name in provider.needed}
    assert needed <= set(re.findall(r"`(\w+)`", section(7)))


def test_the_fields_are_those_that_are_read() -> None:
    fields = {name: set(names[0].split()) for name, names in rows(4).items() if names and name in parsing.READERS}
    assert set(fields) == set(parsing.READERS)
    assert fields["whatsapp_business_account"] == {*whatsapp.NUMBER_READERS, *whatsapp.READERS}
    assert fields["page"] == {*MESSAGE_FIELDS.split(","), *PAGE_FIELDS}
    assert fields["instagram"] == {*FIELDS_OF_INSTAGRAM, *HANDED_OVER, *INSTAGRAM_FIELDS}
    assert set(FIELDS_OF_INSTAGRAM.values()) <= set(page_notices.READERS)


def test_the_guide_of_channel_connect_names_the_same_fields() -> None:
    lines = (ROOT / "docs" / "channel-connect.md").read_text().splitlines()
    titles = {"WhatsApp business account": "whatsapp_business_account", "Page": "page", "Instagram": "instagram"}
    for title, name in titles.items():
        [line] = [line for line in lines if line.startswith(f"| {title} | `messages`")]
        assert set(re.findall(r"`(\w+)`", line)) == set(rows(4)[name][0].split())
