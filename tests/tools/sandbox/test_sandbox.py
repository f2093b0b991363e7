"""The sandbox itself: what a person clicks, what a test controls, and what it refuses as the real API does."""

import os
import re
import subprocess
import sys
from html import unescape
from io import TextIOWrapper
from itertools import islice
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import requests
from django.utils.timezone import now

from channelconnect.providers.notices.events import ReadContext, accounts_in
from channelconnect.providers.notices.parsing import notice_of, read_notice
from channelconnect.providers.settings import verify_signature
from tests.channelconnect.inbox.notices import channel
from tests.channelconnect.providers.customers import REDIRECT_URI, Customer
from tests.processes.starting import start_process, stop
from tools.demo.receiver import open_receiver
from tools.sandbox import SandboxConfig
from tools.sandbox.control.callers import is_this_machine
from tools.sandbox.control.people import PEOPLE

SECONDS = 5


def get(url: str, **options: Any) -> requests.Response:
    return requests.get(url, allow_redirects=False, timeout=SECONDS, **options)


def form_of(page: str) -> tuple[str, list[tuple[str, str]]]:
    """Give a page's form as a browser would send it: its address, hidden inputs and ticked boxes."""
    action = re.search(r'<form method="post" action="([^"]+)"', page)
    assert action
    inputs = re.findall(r'<input type="(hidden|checkbox)" name="([^"]*)" value="([^"]*)"( checked)?( disabled)?>', page)
    sent = [(name, unescape(value)) for kind, name, value, _, disabled in inputs if not disabled]
    return unescape(action[1]), sent


def press(
    customer: Customer, platform: str, person: str, decision: str, untick: tuple[str, ...] = ()
) -> dict[str, str]:
    """Open the dialog, say who we are, untick, press a button; give the query that comes back."""
    consent = customer.provider(platform).consent_url(state="s&ä", redirect_uri=REDIRECT_URI)
    start = get(consent)
    (link,) = re.findall(rf'<a href="([^"]+)">{person}</a>', start.text)
    page = get(consent.split("?")[0] + unescape(link))
    action, sent = form_of(page.text)
    kept = [(name, value) for name, value in sent if value not in untick]
    answer = requests.post(
        customer.sandbox.url + action, data=[*kept, ("decision", decision)], allow_redirects=False, timeout=SECONDS
    )
    assert answer.status_code == 302, answer.text
    query = parse_qs(urlsplit(answer.headers["Location"]).query)
    return {name: values[0] for name, values in query.items()}


def test_a_person_can_click_through_to_a_connected_account(customer: Customer) -> None:
    provider = customer.provider("facebook")
    returned = press(customer, "facebook", "ann", "approve", untick=("6010001",))
    assert returned["state"] == "s&ä"
    grant = provider.authorize(code=returned["code"], redirect_uri=REDIRECT_URI)
    assert [account.external_id for account in provider.accounts(grant)] == ["6010000"]


def test_a_person_can_cancel(customer: Customer) -> None:
    assert press(customer, "whatsapp", "ann", "decline")["error"] == "access_denied"


def test_a_person_can_untick_permissions_that_are_asked_for_by_name(customer: Customer) -> None:
    returned = press(customer, "instagram", "ann", "approve", untick=("instagram_manage_comments",))
    grant = customer.provider("instagram").authorize(code=returned["code"], redirect_uri=REDIRECT_URI)
    assert "instagram_manage_comments" not in grant.scopes
    assert "instagram_basic" in grant.scopes


def test_a_configuration_s_permissions_come_all_together(customer: Customer) -> None:
    returned = press(customer, "whatsapp", "ann", "approve", untick=("whatsapp_business_messaging",))
    grant = customer.provider("whatsapp").authorize(code=returned["code"], redirect_uri=REDIRECT_URI)
    assert "whatsapp_business_messaging" in grant.scopes


def test_everybody_is_offered_with_an_explanation(customer: Customer) -> None:
    page = get(customer.provider("facebook").consent_url(state="s", redirect_uri=REDIRECT_URI)).text
    assert "<script" not in page
    for person in PEOPLE.values():
        assert f">{person.key}</a>" in page


def test_what_comes_in_the_address_is_escaped(customer: Customer) -> None:
    url = customer.provider("facebook").consent_url(state='"><script>1</script>', redirect_uri=REDIRECT_URI)
    for page in (get(url).text, get(url + "&person=ann").text):
        assert "<script" not in page


@pytest.mark.parametrize(
    "changes",
    [
        {"redirect_uri": REDIRECT_URI + "/"},
        {"redirect_uri": REDIRECT_URI + "?a=b"},
        {"redirect_uri": "https://elsewhere.example/"},
        {"client_id": "1002"},
        {"config_id": "5002"},
    ],
)
def test_a_wrong_address_or_app_never_returns(customer: Customer, changes: dict[str, str]) -> None:
    query = {"client_id": "1001", "redirect_uri": REDIRECT_URI, "state": "s", "config_id": "5001"} | changes
    customer.sandbox.play(person="ann", decision="approve")
    answer = get(f"{customer.sandbox.url}/v26.0/dialog/oauth?{urlencode(query)}")
    assert answer.status_code == 400
    assert "Location" not in answer.headers


def test_errors_carry_the_documented_body_and_header(customer: Customer) -> None:
    query = {"client_id": "1001", "client_secret": customer.settings.app_secret, "code": "x", "redirect_uri": "y"}
    answer = get(f"{customer.sandbox.url}/v26.0/oauth/access_token?{urlencode(query)}")
    error = answer.json()["error"]
    assert (answer.status_code, error["type"], error["code"]) == (400, "OAuthException", 100)
    assert error["fbtrace_id"]
    assert answer.headers["WWW-Authenticate"].startswith('OAuth "Facebook Platform" "invalid_code"')


def test_throttles_carry_usage_headers(customer: Customer) -> None:
    grant = customer.grant("whatsapp", "busy")
    answer = get(f"{customer.sandbox.url}/v26.0/2250000", headers={"Authorization": f"Bearer {grant.token}"})
    assert answer.json()["error"]["code"] == 80007
    assert '"estimated_time_to_regain_access": 17' in answer.headers["X-Business-Use-Case-Usage"]
    assert '"call_count": 100' in answer.headers["X-App-Usage"]


def test_tokens_work_as_a_header_and_as_a_parameter_and_outlive_a_reset(customer: Customer) -> None:
    token = customer.grant("facebook").token
    customer.sandbox.reset()
    url = f"{customer.sandbox.url}/v26.0/me/accounts"
    assert len(get(url, headers={"Authorization": f"OAuth {token}"}).json()["data"]) == 2
    assert len(get(url, params={"access_token": token, "limit": 1}).json()["data"]) == 1
    assert get(url).json()["error"]["code"] == 2500
    assert get(url, params={"access_token": token[:-2] + "xx"}).json()["error"]["code"] == 190


def test_the_next_page_s_address_is_meta_s_with_the_token_in_it(customer: Customer) -> None:
    token = customer.grant("facebook").token
    url = f"{customer.sandbox.url}/v26.0/me/accounts"
    paging = get(url, params={"access_token": token, "limit": 1}).json()["paging"]
    assert paging["next"].startswith("https://graph.facebook.com/v26.0/me/accounts?access_token=")
    last = get(url, params={"access_token": token, "limit": 1, "after": paging["cursors"]["after"]}).json()["paging"]
    assert "next" not in last
    assert last["cursors"]["after"]


def test_subscriptions_can_be_looked_at_and_undone(customer: Customer) -> None:
    account = customer.connect("facebook")
    url = f"{customer.sandbox.url}/v26.0/{account.external_id}/subscribed_apps"
    headers = {"Authorization": f"Bearer {account.token}"}
    assert "messages" in get(url, headers=headers).json()["data"][0]["subscribed_fields"]
    assert requests.delete(url, headers=headers, timeout=SECONDS).json() == {"success": True}
    assert get(url, headers=headers).json() == {"data": []}


def test_revoked_tokens_are_dead_until_they_are_brought_back(customer: Customer) -> None:
    account = customer.connect("facebook")
    url = f"{customer.sandbox.url}/v26.0/{account.external_id}"
    headers = {"Authorization": f"Bearer {account.token}"}
    customer.sandbox.control("POST", "revoke", {"person": "ann", "error": "app_removed"})
    assert get(url, headers=headers).json()["error"]["error_subcode"] == 458
    customer.sandbox.control("POST", "revoke", {"person": "ann", "error": ""})
    assert get(url, headers=headers).status_code == 200


def test_a_send_is_accepted_once_for_each_call_and_kept_by_its_opaque_word(customer: Customer) -> None:
    grant = customer.grant("whatsapp")
    url = f"{customer.sandbox.url}/v26.0/4010000/messages"
    message = {
        "messaging_product": "whatsapp",
        "to": "+491700000001",
        "type": "template",
        "template": {"name": "hello", "language": {"code": "en_US"}},
        "biz_opaque_callback_data": "recipient-7",
    }
    headers = {"Authorization": f"Bearer {grant.token}"}
    for _ in range(2):
        answer = requests.post(url, json=message, headers=headers, timeout=SECONDS).json()
    assert answer["messages"][0]["id"].startswith("wamid.")
    assert answer["messages"][0]["message_status"] == "accepted"
    assert customer.sandbox.ledger()["sent_by_opaque"] == {"recipient-7": 2}


def test_a_send_whose_answer_is_lost_was_accepted(customer: Customer) -> None:
    account = customer.connect("facebook")
    customer.sandbox.play(faults=[{"call": "send", "fault": "accept_then_close", "times": 1}])
    message = {"recipient": {"id": "91"}, "message": {"text": "Hi", "metadata": "recipient-8"}}
    url = f"{customer.sandbox.url}/v26.0/{account.external_id}/messages"
    with pytest.raises(requests.ConnectionError):
        requests.post(url, json=message, headers={"Authorization": f"Bearer {account.token}"}, timeout=SECONDS)
    assert customer.sandbox.ledger()["sent_by_opaque"] == {"recipient-8": 1}


def test_a_number_that_is_not_registered_sends_nothing(customer: Customer) -> None:
    grant = customer.grant("whatsapp", "fresh")
    url = f"{customer.sandbox.url}/v26.0/4110000/messages"
    message = {"messaging_product": "whatsapp", "to": "+49", "text": {"body": "x"}}
    answer = requests.post(url, json=message, headers={"Authorization": f"Bearer {grant.token}"}, timeout=SECONDS)
    assert answer.json()["error"]["code"] == 133010


@pytest.mark.parametrize(
    "scenario",
    [
        {"persona": "ann"},
        {"person": "nemo"},
        {"decision": "maybe"},
        {"faults": [{"call": "nothing", "fault": "hang"}]},
        {"faults": [{"call": "list", "fault": "earthquake"}]},
        {"faults": [{"call": "list", "fault": "hang", "often": 2}]},
    ],
)
def test_a_scenario_with_an_unknown_word_is_refused_with_the_known_ones(
    customer: Customer, scenario: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match="there are: "):
        customer.sandbox.play(**scenario)


def test_the_control_endpoint_takes_json_alone_and_names_its_calls(customer: Customer) -> None:
    url = f"{customer.sandbox.url}/__control/"
    assert requests.post(url + "reset", data={"a": "b"}, timeout=SECONDS).status_code == 415
    assert "POST /__control/scenario" in get(url + "nothing").json()["calls"]
    assert get(url + "people").json()["ann"]["numbers"][0]["id"] == "4010000"
    assert get(url + "scenario").json()["decision"] == ""


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "attacker.example"},
        {"Host": "attacker.example:{port}"},
        {"Host": "127.0.0.1"},
        {"Host": "127.0.0.1.attacker.example:{port}"},
        {"Host": "localhost:1"},
        {"Origin": "https://attacker.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_page_of_another_site_cannot_drive_the_sandbox(
    customer: Customer, method: str, headers: dict[str, str]
) -> None:
    """Neither by a name of its own that resolves to this address, nor by a request across sites."""
    port = urlsplit(customer.sandbox.url).port
    named = {name: value.format(port=port) for name, value in headers.items()}
    url = f"{customer.sandbox.url}/__control/{'reset' if method == 'POST' else 'ledger'}"
    customer.sandbox.play(person="ann", decision="decline")
    body: dict[str, str] | None = {} if method == "POST" else None
    answer = requests.request(method, url, headers=named, timeout=SECONDS, json=body)
    assert answer.status_code == 403
    assert list(answer.json()) == ["error"]
    assert customer.sandbox.control("GET", "scenario")["decision"] == "decline"


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_this_machine_and_its_own_pages_drive_the_sandbox(customer: Customer, name: str) -> None:
    host = f"{name}:{urlsplit(customer.sandbox.url).port}"
    own = {"Host": host, "Origin": f"http://{host.lower()}", "Sec-Fetch-Site": "same-origin"}
    assert requests.post(f"{customer.sandbox.url}/__control/reset", json={}, headers=own, timeout=SECONDS).ok


def test_another_machine_cannot_drive_the_sandbox() -> None:
    """Reached by an address of the network, as in a container, it answers this machine alone."""
    assert is_this_machine("127.0.0.1", "127.0.0.1")
    assert is_this_machine("::1", "::1")
    assert is_this_machine("192.0.2.7", "192.0.2.7")
    assert not is_this_machine("192.0.2.8", "192.0.2.7")
    assert not is_this_machine("fe80::1%eth0", "192.0.2.7")


def test_every_sandbox_has_secrets_of_its_own(customer: Customer) -> None:
    """A callback signed by another is not taken for the provider's."""
    first, second = SandboxConfig.read({}), SandboxConfig.read({})
    assert len({config.app_secret for config in (first, second, customer.sandbox.config)}) == 3
    assert first.verify_token != second.verify_token
    given = {"META_APP_SECRET": "an app's", "META_WEBHOOK_VERIFY_TOKEN": "a token"}
    assert (SandboxConfig.read(given).app_secret, SandboxConfig.read(given).verify_token) == ("an app's", "a token")


def test_callbacks_arrive_signed_over_escaped_bytes(customer: Customer) -> None:
    secret = customer.settings.app_secret
    with open_receiver() as receiver:
        sent = customer.sandbox.callback(url=receiver.url, kind="message", account="4010000", text="Hi é", times=2)
        first, second = receiver.next(SECONDS), receiver.next(SECONDS)
        assert first
        assert second
        assert first.body == second.body == sent["body"].encode()
        assert rb"\u00e9" in first.body
        assert verify_signature(first.body, first.headers["x-hub-signature-256"], secret)
        assert [answer["status"] for answer in sent["answers"]] == [204, 204]
        for how in ("wrong", "of_another_app"):
            customer.sandbox.callback(url=receiver.url, kind="removed", account="4010000", signature=how)
            arrival = receiver.next(SECONDS)
            assert arrival
            assert not verify_signature(arrival.body, arrival.headers["x-hub-signature-256"], secret)
        customer.sandbox.callback(url=receiver.url, kind="raw", raw="[", signature="missing")
        arrival = receiver.next(SECONDS)
        assert arrival
        assert arrival.body == b"["
        assert "x-hub-signature-256" not in arrival.headers


@pytest.mark.parametrize(
    ("callback", "fact"),
    [
        ({"kind": "message", "account": "4010000"}, "MessageReceived"),
        ({"kind": "message", "account": "6010000", "platform": "facebook"}, "MessageReceived"),
        ({"kind": "status", "account": "4010000", "message_id": "wamid.X", "code": 131049}, "StatusChanged"),
        ({"kind": "comment", "account": "6010000"}, "CommentReceived"),
        ({"kind": "comment", "account": "6010000", "verb": "edited", "id": "1"}, "CommentEdited"),
        ({"kind": "comment", "account": "6010000", "verb": "remove", "id": "1"}, "CommentRemoved"),
        ({"kind": "comment", "account": "7010000", "platform": "instagram"}, "CommentReceived"),
        ({"kind": "comment", "account": "7010000", "platform": "instagram", "media": "LIVE"}, "CommentReceived"),
        ({"kind": "removed", "account": "4010000"}, "AccountAccessChanged"),
        ({"kind": "revoked", "account": "6010000"}, "AccountAccessChanged"),
        ({"kind": "quality", "account": "4010000", "shown": "1555"}, "QualityChanged"),
        ({"kind": "given", "object": "page", "entry": [{"messaging": [{"reaction": {}}]}]}, "Unknown"),
    ],
)
def test_each_kind_of_callback_is_understood(customer: Customer, callback: dict[str, Any], fact: str) -> None:
    with open_receiver() as receiver:
        sent = customer.sandbox.callback(url=receiver.url, **callback)
    notice = notice_of(sent["body"].encode())
    source = ReadContext({account: channel(account[0], 1) for account in accounts_in(notice)}, now())
    assert [type(found).__name__ for found in read_notice(notice, source)] == [fact]


def test_a_callback_to_nobody_is_reported(customer: Customer) -> None:
    sent = customer.sandbox.callback(url="http://127.0.0.1:9/", kind="removed", account="4010000")
    assert sent["answers"][0]["status"] == 0
    with pytest.raises(ValueError, match="missing or unknown"):
        customer.sandbox.callback(url="http://127.0.0.1:9/", kind="nothing")


def test_the_command_serves_until_it_is_stopped() -> None:
    process = start_process(
        [sys.executable, "-m", "tools.sandbox", "--port", "0", "--redirect-uri", REDIRECT_URI],
        {**os.environ, "META_APP_ID": "4242"},
        stdout=subprocess.PIPE,
    )
    assert process.stdout
    with TextIOWrapper(process.stdout) as output:
        url = output.readline().split()[-1]
        printed = dict(line.strip().split("=", 1) for line in islice(output, 8))
        assert (printed["META_GRAPH_URL"], printed["META_APP_ID"]) == (url, "4242")
        assert all(len(printed[name]) == 32 for name in ("META_APP_SECRET", "META_WEBHOOK_VERIFY_TOKEN"))
        page = get(f"{url}/v26.0/dialog/oauth", params={"client_id": "4242", "redirect_uri": REDIRECT_URI}).text
        assert "Who are you?" in page
        assert get(url + "/").status_code == 200
        assert stop(process) == 0
