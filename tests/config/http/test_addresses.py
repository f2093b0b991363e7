"""Public addresses, and networks that an installation allows all the same."""

from ipaddress import ip_network

import pytest

from config.http.guard import (
    UNREACHABLE_HOST,
    URLRefused,
    canonical,
    check_addresses,
    check_url,
    is_public,
    parse_target,
)

OFFICE = (ip_network("10.1.0.0/16"), ip_network("fd00:1::/32"))


@pytest.mark.parametrize("text", ["", "hooks.acme.io", "1.2.3", "0x7f000001", "fe80::1%eth0", "2606:4700::1%1"])
def test_what_is_no_address_is_not_public(text: str) -> None:
    assert not is_public(text)


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        ("2606:4700:4700:0000:0:0:0:1111", "2606:4700:4700::1111"),
        ("::FFFF:7F00:1", "::ffff:127.0.0.1"),
        ("1.1.1.1", "1.1.1.1"),
    ],
)
def test_addresses_are_spelled_as_the_operating_system_spells_them(text: str, spelling: str) -> None:
    assert canonical(text) == spelling


@pytest.mark.parametrize(
    "answers",
    [["10.1.2.3"], ["fd00:1::5"], ["::ffff:10.1.2.3"], ["10.1.2.3", "93.184.216.34"], ["10.1.2.3", "fd00:1::5"]],
)
def test_an_allowed_network_passes_as_if_it_were_public(answers: list[str]) -> None:
    vetted = check_url("https://hooks.acme.io/", allowed=OFFICE, resolve=lambda _host: answers)

    assert vetted.addresses == tuple(answers)


@pytest.mark.parametrize("answers", [["10.2.0.1"], ["10.1.2.3", "10.2.0.1"], ["fd00:2::5"], ["127.0.0.1"]])
def test_an_allowed_network_opens_no_other(answers: list[str]) -> None:
    with pytest.raises(URLRefused, match=UNREACHABLE_HOST):
        check_url("https://hooks.acme.io/", allowed=OFFICE, resolve=lambda _host: answers)


@pytest.mark.parametrize("name", ["receiver", "receiver.internal", "localhost"])
def test_a_name_of_the_inside_passes_only_where_all_its_addresses_are_allowed(name: str) -> None:
    target = parse_target(f"http://{name}:9000/")

    assert check_addresses(target, ["10.1.2.3"], allowed=OFFICE).addresses == ("10.1.2.3",)
    for answers in (["93.184.216.34"], ["10.1.2.3", "93.184.216.34"], ["10.2.0.1"]):
        with pytest.raises(URLRefused, match=UNREACHABLE_HOST):
            check_addresses(target, answers, allowed=OFFICE)


def test_the_other_rules_stay_in_an_allowed_network() -> None:
    for url in ("http://10.1.2.3:22/", "http://user@10.1.2.3/", "http://10.1.515/", "ftp://10.1.2.3/"):
        with pytest.raises(URLRefused):
            check_url(url, allowed=OFFICE, resolve=lambda _host: ["10.1.2.3"])


def test_an_address_that_was_answered_twice_is_held_once() -> None:
    target = parse_target("https://hooks.acme.io/")

    assert check_addresses(target, ["1.1.1.1", "8.8.8.8", "1.1.1.1"]).addresses == ("1.1.1.1", "8.8.8.8")
