"""Having an account's messages sent to us."""

from dataclasses import replace

import pytest

from channelconnect.providers.platforms import WhatsApp
from tests.channelconnect.providers.customers import PLATFORMS, Customer, fault, fault_of


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_container_is_subscribed_and_again_without_harm(customer: Customer, platform: str) -> None:
    grant, provider = customer.grant(platform), customer.provider(platform)
    account = provider.accounts(grant)[0]
    for _ in range(2):
        provider.subscribe(account, grant)
    assert set(customer.sandbox.ledger()["subscriptions"]) == {account.container_id}


def test_messenger_subscribes_to_the_feed_where_comments_may_be_read(customer: Customer) -> None:
    customer.connect("facebook")
    assert "feed" in customer.sandbox.ledger()["subscriptions"]["6010000"]
    customer.connect("facebook", declined=["pages_read_user_content"])
    fields = customer.sandbox.ledger()["subscriptions"]["6010000"]
    assert {"messages", "messaging_postbacks", "message_reads", "message_echoes", "standby"} <= set(fields)
    assert "feed" not in fields


def test_a_page_needs_its_own_token(customer: Customer) -> None:
    grant, provider = customer.grant("facebook"), customer.provider("facebook")
    account = replace(provider.accounts(grant)[0], token=grant.token)
    caught = fault_of(lambda: provider.subscribe(account, grant))
    assert (caught.code, caught.log["provider_code"]) == ("subscription_failed", 210)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("person", ["refused", "deaf"])
def test_a_refusal_and_an_answer_without_success_fail_the_subscription(
    customer: Customer, platform: str, person: str
) -> None:
    assert fault_of(lambda: customer.connect(platform, person)).code == "subscription_failed"
    assert customer.sandbox.ledger()["subscriptions"] == {} or person == "deaf"


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_token_that_died_since_the_list_is_expired(customer: Customer, platform: str) -> None:
    assert fault_of(lambda: customer.connect(platform, "leaver")).code == "credentials_expired"


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("503", "provider_unavailable"),
        ("html", "provider_unavailable"),
        ("close", "provider_unavailable"),
        ("unknown_error", "provider_unavailable"),
        ("page_throttled", "provider_request_failed"),
        ("permission_denied", "subscription_failed"),
        ("gone", "subscription_failed"),
    ],
)
def test_other_failures_are_distinguished(customer: Customer, kind: str, code: str) -> None:
    assert fault_of(lambda: customer.connect("facebook", **fault("subscribe", kind))).code == code


@pytest.mark.parametrize("kind", ["accept_then_500", "accept_then_close", "app_throttled", "503"])
def test_a_subscription_is_safe_to_repeat_and_is_repeated(customer: Customer, kind: str) -> None:
    customer.connect("facebook", **fault("subscribe", kind, times=1))
    assert len(customer.calls("subscribe")) == 2


def test_a_number_that_cannot_send_is_registered_with_its_own_pin(customer: Customer) -> None:
    account = customer.connect("whatsapp", "fresh")
    assert customer.sandbox.ledger()["registrations"] == {account.external_id: 1}
    assert not customer.accounts("whatsapp", "fresh")[0].needs_registration
    provider = customer.provider("whatsapp")
    assert isinstance(provider, WhatsApp)
    pin = provider.pin(account.external_id)
    assert len(pin) == 6
    assert pin.isdigit()
    assert pin == provider.pin(account.external_id)
    assert pin != provider.pin("4010000")


def test_a_number_that_can_send_is_not_registered(customer: Customer) -> None:
    customer.connect("whatsapp")
    assert customer.sandbox.ledger()["registrations"] == {}


def test_somebody_else_s_pin_fails_the_subscription(customer: Customer) -> None:
    caught = fault_of(lambda: customer.connect("whatsapp", "pinned"))
    assert (caught.code, caught.log["provider_code"]) == ("subscription_failed", 133005)


@pytest.mark.parametrize("kind", ["registered_too_often", "pin_tried_too_often", "success_false"])
def test_a_refused_registration_fails_the_subscription(customer: Customer, kind: str) -> None:
    assert (
        fault_of(lambda: customer.connect("whatsapp", "fresh", **fault("register", kind))).code == "subscription_failed"
    )


@pytest.mark.parametrize("kind", ["503", "accept_then_close", "app_throttled"])
def test_a_registration_is_never_repeated(customer: Customer, kind: str) -> None:
    fault_of(lambda: customer.connect("whatsapp", "fresh", **fault("register", kind)))
    assert len(customer.calls("register")) == 1


def test_a_page_on_which_one_may_only_answer_is_listed_and_refused(customer: Customer) -> None:
    caught = fault_of(lambda: customer.connect("facebook", **fault("subscribe", "permission_missing")))
    assert (caught.code, caught.log["provider_code"]) == ("subscription_failed", 200)
