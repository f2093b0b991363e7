"""Asking for consent: the dialog's address, and what comes back from it."""

from urllib.parse import parse_qs, urlsplit

import pytest
from pytest_django import Settings

from channelconnect.providers.platforms import provider_for
from tests.channelconnect.providers.customers import PLATFORMS, REDIRECT_URI, Customer, fault_of


def query_of(url: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


def test_whatsapp_asks_with_its_configuration(customer: Customer) -> None:
    url = customer.provider("whatsapp").consent_url(state="s&1", redirect_uri=REDIRECT_URI)
    assert urlsplit(url).path == "/v26.0/dialog/oauth"
    assert query_of(url) == {
        "client_id": "1001",
        "redirect_uri": REDIRECT_URI,
        "state": "s&1",
        "response_type": "code",
        "config_id": "5001",
        "override_default_response_type": "true",
    }


@pytest.mark.parametrize(
    ("platform", "messaging", "comments"),
    [
        (
            "facebook",
            "pages_messaging",
            {"pages_manage_engagement", "pages_read_user_content", "pages_read_engagement"},
        ),
        ("instagram", "instagram_manage_messages", {"instagram_manage_comments", "pages_read_engagement"}),
    ],
)
def test_the_others_ask_for_messages_and_comments_by_name_and_again_for_what_was_declined(
    customer: Customer, platform: str, messaging: str, comments: set[str]
) -> None:
    asked = query_of(customer.provider(platform).consent_url(state="s", redirect_uri=REDIRECT_URI))
    scopes = set(asked["scope"].split(","))
    assert messaging in scopes
    assert comments < scopes
    assert asked["auth_type"] == "rerequest"
    assert "config_id" not in asked


def test_a_configuration_can_be_set_for_pages_too(customer: Customer) -> None:
    url = customer.provider("facebook", facebook_config_id="77").consent_url(state="s", redirect_uri=REDIRECT_URI)
    assert query_of(url)["config_id"] == "77"
    assert "scope" not in query_of(url)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_approval_brings_a_code_and_the_state_unchanged(customer: Customer, platform: str) -> None:
    returned = customer.returned(platform)
    assert returned["state"] == "a state"
    assert returned["code"]


def test_declining_brings_meta_s_four_parameters_and_the_state(customer: Customer) -> None:
    assert customer.returned("facebook", decision="decline") == {
        "error": "access_denied",
        "error_code": "200",
        "error_description": "Permissions error",
        "error_reason": "user_denied",
        "state": "a state",
    }


@pytest.mark.parametrize("missing", ["META_APP_ID", "META_APP_SECRET", "META_WHATSAPP_CONFIG_ID"])
def test_whatsapp_without_app_or_configuration_is_not_configured(settings: Settings, missing: str) -> None:
    for name in ("META_APP_ID", "META_APP_SECRET", "META_WHATSAPP_CONFIG_ID"):
        setattr(settings, name, "" if name == missing else "1")
    assert fault_of(lambda: provider_for("whatsapp")).code == "provider_not_configured"
    if missing == "META_WHATSAPP_CONFIG_ID":
        assert provider_for("facebook").platform == "facebook"
    else:
        assert fault_of(lambda: provider_for("instagram")).code == "provider_not_configured"


def test_an_unknown_platform_is_not_configured(customer: Customer) -> None:
    assert fault_of(lambda: customer.provider("telegraph")).code == "provider_not_configured"


def test_the_settings_name_the_real_api_by_default(settings: Settings) -> None:
    settings.META_APP_ID, settings.META_APP_SECRET = "1", "2"
    url = provider_for("facebook").consent_url(state="s", redirect_uri=REDIRECT_URI)
    assert url.startswith("https://www.facebook.com/v26.0/dialog/oauth?")
