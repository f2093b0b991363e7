"""The connect settings on the agency surface."""

from typing import Any

import pytest

from agency.actors import SYSTEM
from agency.models import ActivityEntry
from channelconnect.services.settings import switch_connect
from tests import furnished
from tests.tenants import Tenant

a, b = furnished.a_with_customer, furnished.b_with_customer

PATH = "/channel-connect/settings"
GOOD = [
    "https://app.example.com",
    "https://app.example.com/",
    "https://app.example.com/done",
    "https://app.example.com/done/",
    "https://app.example.com:8443/done",
    "https://app.example.com/a%20b/;x=1",
    "https://xn--bcher-kva.example/",
    "https://127.0.0.1/done",
    "https://[2001:db8::1]:8443/done",
]
BAD = [
    "http://app.example.com/done",
    "https://app.example.com/done?x=1",
    "https://app.example.com/done?",
    "https://app.example.com/done#x",
    "https://user@app.example.com/done",
    "https://user:secret@app.example.com/",
    "https://app.example.com:443@evil.com",
    "https://evil.com\\@app.example.com/",
    "https://app.example.com%2eevil.com/",
    "https://app.example.com。evil.com/",
    "https://\u0430pp.example.com/",
    "https:///done",
    "https://",
    "https://.",
    "https:app.example.com",
    "https:/app.example.com",
    "//app.example.com",
    "/\\app.example.com",
    "/done",
    "javascript:alert(1)",
    "data:text/html,x",
    "http://[::1",
    "https://[::1",
    "https://app.example.com:99999/",
    "https://app.example.com:0/",
    "https://app.example.com:x/",
    "https://app.example.com:/done",
    "https://app..example.com/",
    "https://.app.example.com/",
    "https://-app.example.com/",
    "https://999.1.2.3.4.5/",
    "https://[2001:db8]/",
    "https://2001:db8::1/",
    'https://app.example.com/"x',
    "https://app.example.com/<x>",
    "https://app.exa mple.com/",
    "https://app.example.com/a b",
    "https://app.example.com/" + "x" * 4_000,
    "HTTPS://app.example.com/",
    "ftp://app.example.com/",
]


def put(tenant: Tenant, urls: Any) -> Any:
    return tenant.api.put(PATH, {"return_urls": urls})


def test_an_agency_begins_switched_off_and_without_return_urls(a: Tenant) -> None:
    answer = a.api.get(PATH)
    assert (answer.status_code, answer.json()) == (200, {"data": {"enabled": False, "return_urls": []}})


def test_enabled_follows_our_support_alone(a: Tenant) -> None:
    assert a.api.put(PATH, {"return_urls": [], "enabled": True}).json()["data"]["enabled"] is False
    switch_connect(agency=a.agency, enabled=True, reason="Contract", by=SYSTEM)
    assert a.api.get(PATH).json()["data"]["enabled"] is True
    assert a.api.put(PATH, {"return_urls": []}).json()["data"]["enabled"] is True


def test_the_whole_list_is_replaced_in_its_order_and_a_repetition_dropped(a: Tenant, b: Tenant) -> None:
    first = put(a, GOOD)
    assert (first.status_code, first.json()["data"]["return_urls"]) == (200, GOOD)
    again = put(a, [GOOD[2], GOOD[2], GOOD[0]])
    assert again.json()["data"]["return_urls"] == [GOOD[2], GOOD[0]] == a.api.get(PATH).json()["data"]["return_urls"]
    assert put(a, []).json()["data"]["return_urls"] == []
    assert b.api.get(PATH).json()["data"]["return_urls"] == []


def test_an_address_that_browsers_must_not_return_to_is_refused_by_its_index(a: Tenant) -> None:
    put(a, [GOOD[0]])
    for url in BAD:
        answer = put(a, [GOOD[1], url])
        assert (answer.status_code, list(answer.json()["errors"])) == (422, ["return_urls.1"]), url
    assert a.api.get(PATH).json()["data"]["return_urls"] == [GOOD[0]]


def test_at_most_20_are_kept(a: Tenant) -> None:
    many = [f"https://app.example.com/{number}" for number in range(21)]
    assert put(a, many[:20]).status_code == 200
    answer = put(a, many)
    assert (answer.status_code, answer.json()["errors"]) == (
        422,
        {"return_urls": ["The return urls field may have at most 20 entries."]},
    )


def test_bodies_of_another_form_are_refused(a: Tenant) -> None:
    bodies: tuple[dict[str, Any], ...] = (
        {},
        {"return_urls": None},
        {"return_urls": "https://x.example"},
        {"return_urls": [1]},
    )
    for body in bodies:
        answer = a.api.put(PATH, body)
        assert answer.status_code == 422, body
        assert next(iter(answer.json()["errors"])).startswith("return_urls"), body


def test_a_change_is_in_the_activity_log(a: Tenant) -> None:
    put(a, [GOOD[0]])
    entry = ActivityEntry.objects.get(agency=a.agency, action="connect.return_urls_changed")
    assert (entry.actor_kind, entry.changes) == ("agency_key", {"return_urls": [[], [GOOD[0]]]})


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        (" https://app.example.com/", "A return URL must not begin or end with a blank."),
        ("https://app.example.com/\n", "A return URL must not begin or end with a blank."),
        ("HTTPS://app.example.com/", "The beginning of a return URL must be in lower case: https://."),
        (
            "https://m\u00fcnchen.example/done",
            "The host of a return URL must be in ASCII: write its xn-- form (punycode).",
        ),
        (
            "https://app.example.com/?a=1",
            "Each return URL must be an https URL without query string, fragment or credentials.",
        ),
    ],
)
def test_a_refusal_says_what_is_to_be_mended(a: Tenant, url: str, reason: str) -> None:
    answer = put(a, [url])
    assert (answer.status_code, answer.json()["errors"]) == (422, {"return_urls.0": [reason]})
