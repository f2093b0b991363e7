"""How often a key, and an address without one, may call the agency surface."""

from collections import Counter
from typing import Any

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.services import revoke_agency_key
from config.api.keys import new_key
from tests import furnished
from tests.factories import an_agency_key
from tests.parallel import at_once
from tests.tenants import Api, Tenant, an_address, message

a = furnished.a_with_customer


def test_each_answer_says_what_is_left(a: Tenant) -> None:
    answers = [a.api.get("/plans"), a.api.get("/nothing"), a.api.delete("/plans")]
    assert [answer["X-RateLimit-Limit"] for answer in answers] == ["120"] * 3
    assert [answer["X-RateLimit-Remaining"] for answer in answers] == ["119", "118", "117"]
    assert all("Retry-After" not in answer.headers for answer in answers)


def test_past_the_limit_the_answer_says_how_long_to_wait(a: Tenant, settings: Any) -> None:
    settings.AGENCY_KEY_LIMIT = 2
    refused = [a.api.get("/plans") for _ in range(3)][-1]
    seconds = int(refused["Retry-After"])
    assert refused.status_code == 429
    assert refused.json() == {"message": f"Too many requests. Retry after {seconds} seconds."}
    assert 1 <= seconds <= 60
    assert (refused["X-RateLimit-Limit"], refused["X-RateLimit-Remaining"]) == ("2", "0")


@pytest.mark.django_db(transaction=True)
def test_exactly_120_of_200_parallel_calls_pass_for_a_key(a: Tenant) -> None:
    answers = at_once(lambda _: a.api.get("/plans").status_code, times=200, threads=16)
    assert Counter(answers) == {200: 120, 429: 80}


@pytest.mark.django_db(transaction=True)
def test_exactly_60_of_100_parallel_calls_with_unknown_keys_are_heard_from_an_address() -> None:
    address = an_address()
    answers = at_once(
        lambda _: Api(key=new_key("svc_ag_"), address=address).get("/plans").status_code, times=100, threads=16
    )
    assert Counter(answers) == {401: 60, 429: 40}


def test_each_key_of_an_agency_has_a_limit_of_its_own(a: Tenant, settings: Any) -> None:
    settings.AGENCY_KEY_LIMIT = 1
    _, second = an_agency_key(a.agency, name="Second")
    assert [a.api.get("/plans").status_code for _ in range(2)] == [200, 429]
    assert a.api.with_key(second).get("/plans").status_code == 200


def test_a_key_is_counted_wherever_it_calls_from(a: Tenant, settings: Any) -> None:
    settings.AGENCY_KEY_LIMIT = 2
    answers = [Api(key=a.plaintext).get("/plans").status_code for _ in range(3)]
    assert answers == [200, 200, 429]


def test_missing_mistyped_unknown_and_revoked_keys_share_the_address_s_60(a: Tenant, anonymous: Api) -> None:
    revoke_agency_key(key=a.key, now=now(), by=SYSTEM)
    keys = (None, "mistyped", new_key("svc_ag_"), a.plaintext, a.workspace_plaintext)
    answers = [anonymous.with_key(keys[number % len(keys)]).get("/plans") for number in range(62)]
    assert [answer.status_code for answer in answers] == [401] * 60 + [429] * 2
    assert answers[0]["X-RateLimit-Limit"] == "60"
    assert answers[59]["X-RateLimit-Remaining"] == "0"
    assert message(answers[-1]) == f"Too many requests. Retry after {answers[-1]['Retry-After']} seconds."


def test_an_address_past_its_limit_still_serves_a_known_key(a: Tenant, settings: Any) -> None:
    settings.ADDRESS_LIMIT = 1
    stranger = a.api.with_key("mistyped")
    assert [stranger.get("/plans").status_code for _ in range(2)] == [401, 429]
    assert a.api.get("/plans").status_code == 200


def test_known_keys_do_not_use_up_the_address_s_limit(a: Tenant, settings: Any) -> None:
    settings.ADDRESS_LIMIT = 1
    assert [a.api.get("/plans").status_code for _ in range(3)] == [200] * 3
    assert a.api.with_key(None).get("/plans").status_code == 401


def test_another_address_has_a_limit_of_its_own(db: None, settings: Any) -> None:
    settings.ADDRESS_LIMIT = 1
    assert [Api().get("/plans").status_code for _ in range(3)] == [401] * 3


@pytest.mark.parametrize(
    "header", ["x_forwarded_for", "x_real_ip", "forwarded", "cf_connecting_ip", "true_client_ip", "client_ip"]
)
def test_a_forged_header_changes_nothing(db: None, anonymous: Api, settings: Any, header: str) -> None:
    settings.ADDRESS_LIMIT = 2
    answers = [anonymous.get("/plans", **{header: f"203.0.113.{number}"}).status_code for number in range(4)]
    assert answers == [401, 401, 429, 429]


def test_addresses_of_one_ipv6_network_are_one_address(db: None, settings: Any) -> None:
    settings.ADDRESS_LIMIT = 2
    network = an_address().removesuffix("::1")
    answers = [Api(address=f"{network}::{host}").get("/plans").status_code for host in ("1", "2", "ffff")]
    assert answers == [401, 401, 429]


def test_an_ipv4_address_counts_as_itself_when_written_as_ipv6(db: None, settings: Any) -> None:
    settings.ADDRESS_LIMIT = 1
    answers = [Api(address=address).get("/plans").status_code for address in ("198.51.100.77", "::ffff:198.51.100.77")]
    assert answers == [401, 429]


@pytest.mark.parametrize("path", ["/plans?x=1", "/plans/", "/PLANS", "//plans", "/plans%20", "/workspaces"])
def test_no_spelling_of_a_path_escapes_the_count(a: Tenant, settings: Any, path: str) -> None:
    settings.AGENCY_KEY_LIMIT = 1
    a.api.call("HEAD", "/plans")
    assert a.api.get(path).status_code == 429


def test_the_two_surfaces_count_an_address_apart(a: Tenant, settings: Any) -> None:
    settings.ADDRESS_LIMIT = 1
    address = an_address()
    assert Api("/api/agency/v1", None, address).get("/plans").status_code == 401
    assert Api("/api/v1", None, address).get("/channels").status_code == 401
