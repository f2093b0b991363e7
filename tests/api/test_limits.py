"""The limits: how many pass, what the answers say, and who is counted together."""

import secrets
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_network
from typing import Any

import pytest
from django.test import Client

from config import redis
from config.api.throttling import RateLimit, count_request
from tests.api.conftest import AGENCY, WORKSPACE, an_address
from tests.api.surfaces.surfaces import Holder

TOO_MANY = "Too many requests. Retry after {} seconds."


def a_bucket() -> str:
    return f"test:{secrets.token_hex(8)}"


def test_a_key_gets_120_requests_and_then_429_with_the_time_to_wait(agency: Client) -> None:
    answers = [agency.get(f"{AGENCY}/things") for _ in range(121)]
    assert [answer.status_code for answer in answers] == [200] * 120 + [429]
    assert [int(answer["X-RateLimit-Remaining"]) for answer in answers[:3]] == [119, 118, 117]
    last = answers[-1]
    assert 1 <= int(last["Retry-After"]) <= 60
    assert last.json() == {"message": TOO_MANY.format(last["Retry-After"])}
    assert (last["X-RateLimit-Limit"], last["X-RateLimit-Remaining"]) == ("120", "0")


@pytest.mark.parametrize("key", [None, "svc_ag_mistyped"])
def test_keys_that_nobody_holds_get_60_requests_for_their_address(anonymous: Client, key: str | None) -> None:
    headers = {"x-api-key": key} if key else {}
    answers = [anonymous.get(f"{AGENCY}/things", headers=headers) for _ in range(61)]
    assert [answer.status_code for answer in answers] == [401] * 60 + [429]
    assert answers[-1].json() == {"message": TOO_MANY.format(answers[-1]["Retry-After"])}


def test_a_known_key_is_not_held_up_by_its_addresses_failures(anonymous: Client, agency_key: str) -> None:
    for _ in range(61):
        anonymous.get(f"{AGENCY}/things")
    assert anonymous.get(f"{AGENCY}/things", headers={"x-api-key": agency_key}).status_code == 200


def test_path_variants_and_head_count_alike(anonymous: Client) -> None:
    for number in range(30):
        anonymous.get(f"{AGENCY}/things/{number}")
        anonymous.head(f"{AGENCY}/nothing//{number}")
    assert anonymous.get(f"{AGENCY}/things").status_code == 429


@pytest.mark.parametrize(
    "header", ["X-Forwarded-For", "Forwarded", "X-Real-IP", "CF-Connecting-IP", "True-Client-IP", "X-Client-IP"]
)
def test_forged_headers_change_nothing(anonymous: Client, header: str) -> None:
    answers = [anonymous.get(f"{AGENCY}/things", headers={header: an_address()}) for _ in range(61)]
    assert answers[-1].status_code == 429


def test_all_addresses_of_an_ipv6_host_are_counted_together(client: Client) -> None:
    net = f"2001:db8:{secrets.randbits(16):x}:{secrets.randbits(16):x}"
    statuses = [client.get(f"{WORKSPACE}/things", REMOTE_ADDR=f"{net}:{n:x}::{n:x}").status_code for n in range(61)]
    assert statuses == [401] * 60 + [429]
    assert client.get(f"{WORKSPACE}/things", REMOTE_ADDR=an_address()).status_code == 401


def test_an_ipv4_address_is_the_same_in_ipv6_clothes(client: Client) -> None:
    address = f"198.18.{secrets.randbelow(256)}.{secrets.randbelow(256)}"
    for plain in [address, f"::ffff:{address}"] * 30:
        client.get(f"{AGENCY}/things", REMOTE_ADDR=plain)
    assert client.get(f"{AGENCY}/things", REMOTE_ADDR=address).status_code == 429


@pytest.fixture
def _behind_a_proxy(settings: Any) -> None:
    settings.TRUSTED_PROXIES = [ip_network("10.0.0.0/8"), ip_network("fd00::/8")]


@pytest.mark.usefixtures("_behind_a_proxy")
def test_behind_a_trusted_proxy_the_nearest_foreign_address_counts(client: Client) -> None:
    mine = an_address()
    for number in range(61):
        forged = f"203.0.113.{number}, {mine}, 10.1.1.1, fd00::1"
        answer = client.get(f"{AGENCY}/things", REMOTE_ADDR="10.0.0.1", headers={"X-Forwarded-For": forged})
    assert answer.status_code == 429
    other = client.get(
        f"{AGENCY}/things", REMOTE_ADDR="10.0.0.1", headers={"X-Forwarded-For": f"{mine}, {an_address()}"}
    )
    assert other.status_code == 401


@pytest.mark.usefixtures("_behind_a_proxy")
def test_whoever_is_no_trusted_proxy_is_not_believed(anonymous: Client) -> None:
    for _ in range(61):
        answer = anonymous.get(f"{AGENCY}/things", headers={"X-Forwarded-For": an_address()})
    assert answer.status_code == 429


@pytest.mark.usefixtures("_behind_a_proxy")
@pytest.mark.parametrize(
    "forwarded",
    ["", ",", "garbage", "1.2.3.4, garbage", "unknown, _hidden", "\xff\x00", "[::1", ",".join(["10.0.0.9"] * 5000)],
)
def test_garbage_in_a_trusted_proxys_header_counts_as_the_proxy(client: Client, forwarded: str) -> None:
    answer = client.get(f"{AGENCY}/things", REMOTE_ADDR="10.2.0.1", headers={"X-Forwarded-For": forwarded})
    assert answer.status_code in (401, 429)


@pytest.mark.usefixtures("_behind_a_proxy")
@pytest.mark.parametrize("written", ["{}:8080", "[{}]:443", " {} ", "{}%eth0"])
def test_ports_brackets_and_scopes_belong_to_no_address(client: Client, written: str) -> None:
    address = "198.19.7.7" if written == "{}:8080" else an_address()  # which no other test counts
    header = {"X-Forwarded-For": written.format(address)}
    with_them = client.get(f"{WORKSPACE}/things", REMOTE_ADDR="10.0.0.1", headers=header)
    plain = client.get(f"{WORKSPACE}/things", REMOTE_ADDR=address)
    left = int(with_them["X-RateLimit-Remaining"])
    assert int(plain["X-RateLimit-Remaining"]) == left - 1


@pytest.mark.parametrize("peer", ["", "unix", "not an address", "\xff"])
def test_a_peer_without_an_address_is_counted_too(client: Client, peer: str) -> None:
    answer = client.get(f"{WORKSPACE}/things", REMOTE_ADDR=peer)
    assert answer.status_code in (401, 429)
    assert answer["X-RateLimit-Limit"] == "60"


def test_of_a_thousand_at_once_exactly_the_limit_passes() -> None:
    limit = RateLimit(a_bucket(), 100)
    with ThreadPoolExecutor(16) as pool:
        rates = list(pool.map(lambda _: count_request(limit), range(1000)))
    assert sum(rate is not None and rate.retry_after is None for rate in rates) == 100


def test_the_window_begins_with_the_first_request_and_ends_as_said() -> None:
    limit = RateLimit(a_bucket(), 1)
    first, second = count_request(limit), count_request(limit)
    assert first is not None
    assert first.retry_after is None
    assert second is not None
    key = f"limit:{limit.bucket}"
    left = redis.client().pttl(key)
    assert second.retry_after is not None
    assert left <= second.retry_after * 1_000 <= 60_000
    redis.client().pexpire(key, 30_200)
    third = count_request(limit)
    left = redis.client().pttl(key)
    assert third is not None
    assert third.retry_after is not None
    assert left <= third.retry_after * 1_000 <= 31_000
    redis.client().pexpire(key, 0)  # so much time is over
    after = count_request(limit)
    assert after is not None
    assert after.retry_after is None


def test_a_counter_that_lost_its_end_gets_a_new_one() -> None:
    limit = RateLimit(a_bucket(), 1)
    count_request(limit)
    redis.client().persist(f"limit:{limit.bucket}")
    rate = count_request(limit)
    assert rate is not None
    assert rate.retry_after == 60
    assert redis.client().pttl(f"limit:{limit.bucket}") > 0


def test_a_redis_that_forgot_the_script_is_sent_it_again() -> None:
    redis.client().script_flush()
    rate = count_request(RateLimit(a_bucket(), 5))
    assert rate is not None
    assert rate.remaining == 4


def test_no_bucket_holds_a_key(agency: Client, agency_key: str) -> None:
    agency.get(f"{AGENCY}/things")
    agency.get(f"{AGENCY}/things", headers={"x-api-key": agency_key + "x"})
    assert not [name for name in redis.client().scan_iter("*") if b"svc_" in name]


@pytest.mark.usefixtures("_redis_away")
def test_with_redis_away_everybody_passes_uncounted_and_it_is_said_once(
    agency: Client, holder: Holder, caplog: pytest.LogCaptureFixture
) -> None:
    answers = [agency.get(f"{AGENCY}/things") for _ in range(130)]
    assert {answer.status_code for answer in answers} == {200}
    assert "X-RateLimit-Limit" not in answers[-1]
    said = [record for record in caplog.records if "redis is away" in record.message]
    assert 1 <= len(said) < 10
