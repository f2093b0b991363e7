"""From the code to a checked grant."""

from datetime import UTC, datetime, timedelta

import pytest

from channelconnect.providers.grants import Grant
from tests.channelconnect.providers.customers import PLATFORMS, REDIRECT_URI, Customer, fault, fault_of


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_code_becomes_a_grant_that_survives_json(customer: Customer, platform: str) -> None:
    grant = customer.grant(platform)
    assert grant.platform == platform
    assert grant.user_id == "3010000"
    assert Grant.from_json(grant.to_json()) == grant
    assert grant.token not in repr(grant)


def test_a_system_user_s_token_never_expires_and_is_not_exchanged_again(customer: Customer) -> None:
    assert customer.grant("whatsapp").expires_at is None
    assert not customer.calls("lengthen", "permissions")


def test_a_person_s_token_is_exchanged_for_a_long_lived_one(customer: Customer) -> None:
    grant = customer.grant("facebook")
    assert [call["call"] for call in customer.calls()] == [
        "exchange",
        "debug_token",
        "lengthen",
        "debug_token",
        "permissions",
    ]
    assert grant.expires_at is not None
    assert timedelta(days=59) < grant.expires_at - datetime.now(UTC) < timedelta(days=61)
    assert not grant.has_expired(datetime.now(UTC))
    assert grant.has_expired(grant.expires_at)


@pytest.mark.parametrize(
    ("kind", "code", "subcode"),
    [
        ("code_used", 100, 36009),
        ("redirect_mismatch", 100, 36008),
        ("code_expired", 100, 36007),
        ("wrong_secret", 1, None),
        ("unknown_app", 101, None),
        ("app_throttled", 4, None),
        ("service_error", 2, None),
    ],
)
def test_every_refusal_of_the_exchange_is_a_failed_exchange_and_is_not_repeated(
    customer: Customer, kind: str, code: int, subcode: int | None
) -> None:
    caught = fault_of(lambda: customer.grant("whatsapp", **fault("exchange", kind)))
    assert caught.code == "token_exchange_failed"
    assert (caught.log["provider_code"], caught.log["provider_subcode"]) == (code, subcode)
    assert caught.log["fbtrace_id"]
    assert len(customer.calls("exchange")) == 1


def test_a_code_works_once(customer: Customer) -> None:
    provider, code = customer.provider("whatsapp"), customer.code("whatsapp")
    provider.authorize(code=code, redirect_uri=REDIRECT_URI)
    caught = fault_of(lambda: provider.authorize(code=code, redirect_uri=REDIRECT_URI))
    assert (caught.code, caught.log["provider_subcode"]) == ("token_exchange_failed", 36009)


def test_a_code_is_bound_to_its_redirect_uri(customer: Customer) -> None:
    code = customer.code("whatsapp")
    caught = fault_of(lambda: customer.provider("whatsapp").authorize(code=code, redirect_uri=REDIRECT_URI + "/"))
    assert (caught.code, caught.log["provider_subcode"]) == ("token_exchange_failed", 36008)


def test_a_code_expires(customer: Customer) -> None:
    code = customer.code("whatsapp", code_seconds=0)
    caught = fault_of(lambda: customer.provider("whatsapp").authorize(code=code, redirect_uri=REDIRECT_URI))
    assert (caught.code, caught.log["provider_subcode"]) == ("token_exchange_failed", 36007)


@pytest.mark.parametrize("code", ["forged", "x" * 8_000, "\x00\r\n", "<script>"])
def test_a_forged_code_is_a_failed_exchange(customer: Customer, code: str) -> None:
    caught = fault_of(lambda: customer.provider("whatsapp").authorize(code=code, redirect_uri=REDIRECT_URI))
    assert caught.code == "token_exchange_failed"


def test_an_empty_code_is_not_sent(customer: Customer) -> None:
    caught = fault_of(lambda: customer.provider("whatsapp").authorize(code="", redirect_uri=REDIRECT_URI))
    assert caught.code == "token_exchange_failed"
    assert not customer.calls()


def test_a_wrong_secret_is_a_failed_exchange(customer: Customer) -> None:
    provider = customer.provider("whatsapp", app_secret="another")
    caught = fault_of(lambda: provider.authorize(code=customer.code("whatsapp"), redirect_uri=REDIRECT_URI))
    assert (caught.code, caught.log["provider_code"]) == ("token_exchange_failed", 1)


@pytest.mark.parametrize("kind", ["without_token", "odd_expires_in"])
def test_an_answer_without_a_usable_token_is_a_failed_exchange(customer: Customer, kind: str) -> None:
    assert fault_of(lambda: customer.grant("facebook", **fault("exchange", kind))).code == "token_exchange_failed"


@pytest.mark.parametrize("kind", ["500", "503", "html", "redirect", "garbage", "not_an_object", "close", "huge"])
def test_no_proper_answer_to_the_exchange_is_an_unavailable_provider_and_is_not_repeated(
    customer: Customer, kind: str
) -> None:
    caught = fault_of(lambda: customer.grant("facebook", **fault("exchange", kind)))
    assert caught.code == "provider_unavailable"
    assert len(customer.calls("exchange")) == 1


@pytest.mark.parametrize("kind", ["accept_then_hang", "accept_then_500", "accept_then_close"])
def test_an_exchange_whose_answer_is_lost_is_never_repeated(hurried: Customer, kind: str) -> None:
    caught = fault_of(lambda: hurried.grant("facebook", **fault("exchange", kind)))
    assert caught.code == "provider_unavailable"
    assert len(hurried.calls("exchange")) == 1


def test_a_failed_lengthening_is_a_failed_exchange(customer: Customer) -> None:
    caught = fault_of(lambda: customer.grant("facebook", **fault("lengthen", "password_changed")))
    assert caught.code == "token_exchange_failed"
    assert len(customer.calls("lengthen")) == 1


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("invalid", "credentials_expired"),
        ("expired", "credentials_expired"),
        ("odd_expiry", "credentials_expired"),
        ("other_app", "token_exchange_failed"),
        ("not_app_token", "provider_request_failed"),
        ("token_invalid", "provider_request_failed"),
        ("503", "provider_unavailable"),
        ("html", "provider_unavailable"),
    ],
)
def test_the_token_s_own_facts_decide(customer: Customer, kind: str, code: str) -> None:
    assert fault_of(lambda: customer.grant("facebook", **fault("debug_token", kind))).code == code


def test_an_expiry_of_zero_is_never(customer: Customer) -> None:
    assert customer.grant("facebook", **fault("debug_token", "never_expires")).expires_at is None


def test_only_the_app_s_own_token_may_inspect(customer: Customer) -> None:
    provider = customer.provider("whatsapp", app_id="1002")
    caught = fault_of(lambda: provider.authorize(code=customer.code("whatsapp"), redirect_uri=REDIRECT_URI))
    assert caught.log["provider_code"] == 101


def test_the_grant_knows_which_accounts_were_chosen(customer: Customer) -> None:
    chosen = customer.grant("facebook", accounts=["6010001"])
    assert chosen.covers("pages_messaging", "6010001")
    assert not chosen.covers("pages_messaging", "6010000")
    everything = customer.grant("facebook", "wide")
    assert everything.targets == {}
    assert everything.covers("pages_messaging", "6090001")


@pytest.mark.parametrize(
    ("platform", "scope"),
    [
        ("whatsapp", "whatsapp_business_messaging"),
        ("whatsapp", "whatsapp_business_management"),
        ("facebook", "pages_messaging"),
        ("facebook", "pages_show_list"),
        ("facebook", "pages_manage_metadata"),
        ("instagram", "instagram_basic"),
        ("instagram", "instagram_manage_messages"),
        ("instagram", "pages_show_list"),
        ("instagram", "pages_manage_metadata"),
    ],
)
def test_a_needed_permission_that_was_not_given_is_missing(customer: Customer, platform: str, scope: str) -> None:
    caught = fault_of(lambda: customer.grant(platform, declined=[scope]))
    assert (caught.code, caught.log["missing"]) == ("required_permissions_missing", [scope])


@pytest.mark.parametrize("platform", PLATFORMS)
def test_someone_who_never_gives_what_messages_need_is_found_out(customer: Customer, platform: str) -> None:
    assert fault_of(lambda: customer.grant(platform, "half")).code == "required_permissions_missing"


@pytest.mark.parametrize(
    ("platform", "declined"),
    [
        ("facebook", ["pages_read_engagement", "pages_manage_engagement", "pages_read_user_content"]),
        ("instagram", ["instagram_manage_comments", "pages_read_engagement"]),
        ("whatsapp", ["business_management"]),
    ],
)
def test_what_is_only_wanted_may_be_declined(customer: Customer, platform: str, declined: list[str]) -> None:
    assert not set(declined) & set(customer.grant(platform, declined=declined).scopes)
