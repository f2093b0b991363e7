"""Listing what can be connected: all pages, only what is eligible, at most 500."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from channelconnect.providers.grants import Account
from channelconnect.providers.platforms import WhatsApp
from tests.channelconnect.providers.customers import PLATFORMS, Customer, fault, fault_of


def test_whatsapp_lists_numbers_with_quality_limit_and_portfolio(customer: Customer) -> None:
    first, second = customer.accounts("whatsapp")
    assert first == Account(
        external_id="4010000",
        container_id="2010000",
        name="Shop 1",
        handle="+1 555-010-0000",
        quality="GREEN",
        messaging_limit=2_000,
        portfolio_id="8010000",
        throughput="STANDARD",
    )
    assert second.external_id == "4010001"


def test_messenger_lists_pages_with_their_own_tokens(customer: Customer) -> None:
    grant = customer.grant("facebook")
    first, second = customer.provider("facebook").accounts(grant)
    assert (first.external_id, first.container_id, first.name) == ("6010000", "6010000", "Page 1 é")
    assert first.handle == "Page 1 é"
    assert len({first.token, second.token, grant.token, ""}) == 4


def test_instagram_lists_the_accounts_linked_to_pages(customer: Customer) -> None:
    first, _ = customer.accounts("instagram")
    assert (first.external_id, first.container_id) == ("7010000", "6010000")
    assert (first.name, first.handle) == ("Shop.1.1", "@shop.1.1")


@pytest.mark.parametrize("platform", PLATFORMS)
def test_accounts_survive_json_and_hide_their_tokens(customer: Customer, platform: str) -> None:
    for account in customer.accounts(platform):
        assert Account.from_json(account.to_json()) == account
        assert "EAAS" not in repr(account)


@pytest.mark.parametrize(
    ("platform", "chosen"), [("whatsapp", "2091000"), ("facebook", "6010001"), ("instagram", "6010001")]
)
def test_only_what_the_person_picked_is_listed(customer: Customer, platform: str, chosen: str) -> None:
    person = "ann" if platform != "whatsapp" else "wide"
    containers = {account.container_id for account in customer.accounts(platform, person, accounts=[chosen])}
    assert containers == {chosen}


@pytest.mark.parametrize("platform", PLATFORMS)
def test_scopes_without_target_ids_cover_everything(customer: Customer, platform: str) -> None:
    accounts = customer.accounts(platform, "wide")
    assert len(accounts) == (4 if platform == "whatsapp" else 2)
    if platform == "whatsapp":
        assert len(customer.calls("business_edge")) == 2


def test_whatsapp_reads_the_portfolios_when_the_target_ids_are_missing(customer: Customer) -> None:
    accounts = customer.accounts("whatsapp", **fault("debug_token", "without_targets"))
    assert {account.container_id for account in accounts} == {"2010000"}


@pytest.mark.parametrize(("platform", "count"), [("whatsapp", 5), ("facebook", 5), ("instagram", 5)])
def test_an_empty_page_with_a_next_one_is_not_the_end(customer: Customer, platform: str, count: int) -> None:
    assert len(customer.accounts(platform, "gaps")) == count


def test_the_next_page_s_cursor_may_be_in_its_address_alone(customer: Customer) -> None:
    assert len(customer.accounts("facebook", "gaps", **fault("me_accounts", "bare_next"))) == 5


@pytest.mark.parametrize("platform", PLATFORMS)
def test_exactly_500_accounts_are_listed(customer: Customer, platform: str) -> None:
    assert len(customer.accounts(platform, "many")) == 500


@pytest.mark.parametrize("platform", PLATFORMS)
def test_more_than_500_accounts_are_too_many(customer: Customer, platform: str) -> None:
    assert fault_of(lambda: customer.accounts(platform, "crowd")).code == "asset_discovery_incomplete"


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_list_without_an_end_is_left(customer: Customer, platform: str) -> None:
    call = "phone_numbers" if platform == "whatsapp" else "me_accounts"
    caught = fault_of(lambda: customer.accounts(platform, **fault(call, "endless")))
    assert caught.code == "asset_discovery_incomplete"
    assert len(customer.calls(call)) == 2


@pytest.mark.parametrize("person", ["nobody", "onlooker", "rejected"])
@pytest.mark.parametrize("platform", PLATFORMS)
def test_nothing_to_connect_is_said_so(customer: Customer, platform: str, person: str) -> None:
    assert fault_of(lambda: customer.accounts(platform, person)).code == "no_eligible_accounts"


def test_pages_without_linked_accounts_are_eligible_for_messenger_alone(customer: Customer) -> None:
    assert fault_of(lambda: customer.accounts("instagram", "unlinked")).code == "no_eligible_accounts"
    assert len(customer.accounts("facebook", "unlinked")) == 2


@pytest.mark.parametrize("platform", ["facebook", "instagram"])
def test_a_portfolio_s_pages_are_read_by_the_ids_of_the_consent(customer: Customer, platform: str) -> None:
    assert len(customer.accounts(platform, "portfolio")) == 2
    assert len(customer.calls("page")) == 2


def test_a_picked_page_that_cannot_be_read_is_left_out(customer: Customer) -> None:
    accounts = customer.accounts("facebook", "portfolio", **fault("page", "gone", times=1))
    assert [account.external_id for account in accounts] == ["6080001"]


def test_a_token_that_dies_while_picked_pages_are_read_is_expired(customer: Customer) -> None:
    caught = fault_of(lambda: customer.accounts("facebook", "portfolio", **fault("page", "token_expired")))
    assert caught.code == "credentials_expired"


def test_a_number_that_is_not_registered_yet_says_so(customer: Customer) -> None:
    (account,) = customer.accounts("whatsapp", "fresh")
    assert account.needs_registration


def test_a_list_with_default_fields_alone_still_gives_numbers_with_the_smallest_limit(customer: Customer) -> None:
    accounts = customer.accounts("whatsapp", **fault("phone_numbers", "only_defaults"))
    assert [account.messaging_limit for account in accounts] == [50, 50]


def test_a_number_s_quality_and_limit_can_be_read_again(customer: Customer) -> None:
    grant = customer.grant("whatsapp")
    provider = customer.provider("whatsapp")
    account = provider.accounts(grant)[0]
    assert isinstance(provider, WhatsApp)
    stale = replace(account, quality="RED", messaging_limit=50)
    assert provider.refreshed(stale, grant) == account
    assert len(customer.calls("phone")) == 1


def test_an_expired_grant_is_not_tried(customer: Customer) -> None:
    grant = replace(customer.grant("facebook"), expires_at=datetime.now(UTC))
    assert fault_of(lambda: customer.provider("facebook").accounts(grant)).code == "credentials_expired"
    assert not customer.calls("me_accounts")


@pytest.mark.parametrize("kind", ["password_changed", "token_expired", "app_removed", "role_lost", "token_invalid"])
def test_a_token_that_dies_before_the_choice_is_expired(customer: Customer, kind: str) -> None:
    caught = fault_of(lambda: customer.accounts("facebook", **fault("me_accounts", kind)))
    assert (caught.code, caught.log["provider_code"]) == ("credentials_expired", 190)
    assert len(customer.calls("me_accounts")) == 1


@pytest.mark.parametrize("kind", ["permission_denied", "permission_missing", "bad_parameter", "gone"])
def test_a_refused_list_is_a_rejected_request(customer: Customer, kind: str) -> None:
    assert (
        fault_of(lambda: customer.accounts("facebook", **fault("me_accounts", kind))).code == "provider_request_failed"
    )
    assert len(customer.calls("me_accounts")) == 1


@pytest.mark.parametrize("kind", ["app_throttled", "user_throttled", "page_throttled", "429"])
def test_throttling_that_lasts_is_a_rejected_request_after_three_attempts(customer: Customer, kind: str) -> None:
    assert (
        fault_of(lambda: customer.accounts("facebook", **fault("me_accounts", kind))).code == "provider_request_failed"
    )
    assert len(customer.calls("me_accounts")) == 3


def test_throttling_for_minutes_is_not_waited_for(customer: Customer) -> None:
    caught = fault_of(lambda: customer.accounts("whatsapp", "busy"))
    assert (caught.code, caught.log["minutes_to_wait"]) == ("provider_request_failed", 17)
    assert len(customer.calls("waba")) == 1


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("kind", ["app_throttled", "service_error", "unknown_error", "500", "503", "html", "close"])
def test_a_read_is_repeated_until_it_goes_well(customer: Customer, platform: str, kind: str) -> None:
    assert len(customer.accounts(platform, **fault("list", kind, times=2))) == 2


@pytest.mark.parametrize("kind", ["503", "html", "html_404", "redirect", "garbage", "not_an_object", "huge", "close"])
def test_no_proper_answer_three_times_is_an_unavailable_provider(customer: Customer, kind: str) -> None:
    assert fault_of(lambda: customer.accounts("facebook", **fault("me_accounts", kind))).code == "provider_unavailable"
    assert len(customer.calls("me_accounts")) == 3


def test_a_stolen_token_alone_is_refused_where_the_proof_is_wrong(customer: Customer) -> None:
    grant = customer.grant("facebook")
    caught = fault_of(lambda: customer.provider("facebook", app_secret="another").accounts(grant))
    assert (caught.code, caught.log["provider_text"]) == (
        "provider_request_failed",
        "Invalid appsecret_proof provided in the API argument",
    )
