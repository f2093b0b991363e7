"""Whatever happens, no token, code or secret of ours is in a log, a text of an exception, or a representation."""

import contextlib
import logging
import traceback
from typing import Any

import pytest

from channelconnect.providers.grants import Account, Grant
from channelconnect.providers.graph import ProviderFault
from channelconnect.providers.platforms import provider_for
from config.logs import JSONFormatter
from tests.channelconnect.providers.customers import PLATFORMS, REDIRECT_URI, Customer, fault

STORIES = [
    {},
    fault("exchange", "503"),
    fault("exchange", "garbage"),
    fault("exchange", "close"),
    fault("exchange", "code_used"),
    fault("debug_token", "token_garbled"),
    fault("list", "token_invalid"),
    fault("list", "token_garbled"),
    fault("list", "close"),
    fault("list", "html"),
    fault("list", "throttled_for_long"),
    fault("subscribe", "token_invalid"),
    fault("subscribe", "success_false"),
    fault("subscribe", "close"),
]


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.get("faults", [{"fault": "well"}])[0]["fault"])
def test_nothing_secret_is_written_anywhere(
    customer: Customer, caplog: pytest.LogCaptureFixture, platform: str, story: dict[str, Any]
) -> None:
    code = customer.code(platform, **story)
    caplog.clear()
    caplog.set_level(logging.DEBUG)
    provider, texts = customer.provider(platform), []
    secrets = {code, customer.settings.app_secret}
    try:
        grant = provider.authorize(code=code, redirect_uri=REDIRECT_URI)
        texts.append(repr(grant))
        secrets.add(grant.token)
        accounts = provider.accounts(grant)
        texts.append(repr(accounts))
        secrets |= {account.token for account in accounts}
        provider.subscribe(accounts[0], grant)
    except ProviderFault as caught:
        texts += [str(caught), repr(caught), repr(caught.log), "".join(traceback.format_exception(caught))]
    texts += [JSONFormatter().format(record) for record in caplog.records]
    assert len(caplog.records) > 0
    written = "\n".join(texts)
    assert "EAAS" not in written
    assert not [secret for secret in secrets - {""} if secret in written]


def test_the_loggers_of_the_http_library_stay_silent_about_addresses(
    customer: Customer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    code = customer.code("facebook")
    caplog.clear()
    customer.provider("facebook").authorize(code=code, redirect_uri=REDIRECT_URI)
    assert {record.name for record in caplog.records} == {"channelconnect.providers.graph"}


def test_each_call_is_logged_with_version_status_and_duration(
    customer: Customer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    customer.accounts("facebook")
    logged = [vars(record) for record in caplog.records if record.name == "channelconnect.providers.graph"]
    assert [entry["call"] for entry in logged] == [
        "GET oauth/access_token",
        "GET debug_token",
        "GET oauth/access_token",
        "GET debug_token",
        "GET me/permissions",
        "GET me/accounts",
    ]
    assert all(entry["version"] == "v26.0" and entry["http_status"] == 200 and entry["ms"] >= 0 for entry in logged)


def test_the_settings_hide_their_secrets(customer: Customer) -> None:
    shown = repr(customer.settings)
    assert customer.settings.app_secret not in shown
    assert customer.settings.webhook_verify_token not in shown


def test_a_fault_says_its_code_alone() -> None:
    with contextlib.suppress(ProviderFault):
        provider_for("nowhere")
    assert str(ProviderFault("provider_unavailable", reason="timeout")) == "provider_unavailable"


def test_tokens_are_not_in_representations() -> None:
    grant = Grant(platform="facebook", token="a-token")
    account = Account(external_id="1", container_id="1", name="n", handle="h", token="a-token")
    assert "a-token" not in repr(grant) + repr(account)
