"""Messages at the sandbox: what it accepts, refuses, tells afterwards, and what people send it."""

import json
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest
import requests

from tests.waiting import PATIENCE_SECONDS
from tools.demo.receiver import Receiver, open_receiver
from tools.sandbox import RunningSandbox, SandboxConfig, open_sandbox
from tools.sandbox.control.callbacks import compose
from tools.sandbox.control.inbound import PAGE, WHATSAPP
from tools.sandbox.graph.message_checks import check_page_message
from tools.sandbox.graph.sending_errors import ERRORS, SendRefused
from tools.sandbox.graph.tokens import Token, write

NUMBER, PAGE_ID, BUSINESS = "4010000", "6010000", "2010000"
SCOPES = ("whatsapp_business_management", "whatsapp_business_messaging", "pages_messaging")
FILE = {"id": "1", "content_type": "image/png", "sha256": "YQ==", "url": "https://scontent.fbcdn.net/a"}


@pytest.fixture(scope="module")
def product() -> Iterator[Receiver]:
    """What takes the sandbox's callbacks."""
    with open_receiver() as receiver:
        yield receiver


@pytest.fixture(scope="module")
def sandbox(product: Receiver) -> Iterator[RunningSandbox]:
    with open_sandbox(SandboxConfig.read({}, callback_url=product.url)) as running:
        yield running


@pytest.fixture
def played(sandbox: RunningSandbox, product: Receiver) -> RunningSandbox:
    """The sandbox, forgetful, that tells nothing by itself."""
    sandbox.reset()
    sandbox.play(statuses="none", status_seconds=0.02)
    while product.next(0.001):
        pass
    return sandbox


def send(sandbox: RunningSandbox, text: str = "Hi", *, to: str = "+491701", **body: Any) -> requests.Response:
    token = write(Token(person="ann", kind="SYSTEM_USER", granted=SCOPES), sandbox.config.app_secret)
    content = {"messaging_product": "whatsapp", "to": to, "type": "text", "text": {"body": text}, **body}
    return requests.post(
        f"{sandbox.url}/v26.0/{NUMBER}/messages", json=content, headers={"Authorization": f"Bearer {token}"}, timeout=60
    )


def statuses(product: Receiver, count: int) -> list[tuple[str, str]]:
    """The next statuses that come, with the opaque value that each of them carries."""
    found: list[tuple[str, str]] = []
    while len(found) < count and (request := product.next(PATIENCE_SECONDS)):
        for change in json.loads(request.body)["entry"][0]["changes"]:
            found += [(one["status"], one["biz_opaque_callback_data"]) for one in change["value"]["statuses"]]
    return found


def test_words_and_last_digits_ask_for_errors(played: RunningSandbox) -> None:
    for code in ERRORS:
        number, _, subcode = code.partition("/")
        error = send(played, f"Hi #{code}").json()["error"]
        assert (error["code"], error.get("error_subcode")) == (int(number), int(subcode) if subcode else None)
    assert send(played, to="+49170131026").json()["error"]["code"] == 131026
    assert played.ledger()["sent_total"] == 0


def test_an_error_may_pass(played: RunningSandbox) -> None:
    codes = [send(played, "#131056*2", biz_opaque_callback_data="a").status_code for _ in range(3)]
    assert codes == [400, 400, 200]


@pytest.mark.parametrize(
    ("course", "expected"),
    [
        ("read", ["sent", "delivered", "read"]),
        ("no-delivered", ["sent", "read"]),
        ("doubled", ["sent", "sent", "delivered", "delivered", "read", "read"]),
        ("reversed", ["read", "delivered", "sent"]),
        ("failed-after", ["sent", "failed"]),
        ("held", ["failed"]),
    ],
)
def test_statuses_follow_in_the_order_that_is_asked_for(
    played: RunningSandbox, product: Receiver, course: str, expected: list[str]
) -> None:
    assert send(played, f"Hi #{course}", biz_opaque_callback_data="m1").status_code == 200
    assert statuses(product, len(expected)) == [(status, "m1") for status in expected]


def test_a_status_may_come_before_the_answer(played: RunningSandbox, product: Receiver) -> None:
    assert send(played, "Hi #before", biz_opaque_callback_data="m2").status_code == 200
    request = product.next(0.001)
    assert request
    assert b"m2" in request.body


@pytest.mark.parametrize("ending", ["500", "close"])
def test_what_was_accepted_may_go_without_an_answer(played: RunningSandbox, ending: str) -> None:
    try:
        assert send(played, f"Hi #{ending}", biz_opaque_callback_data="m3").status_code == 500
    except requests.ConnectionError:
        assert ending == "close"
    assert played.ledger()["sent_by_opaque"] == {"m3": 1}


def test_windows_open_when_a_person_writes(played: RunningSandbox) -> None:
    played.play(statuses="none", has_windows=True)
    assert send(played, to="+491709").json()["error"]["code"] == 131047
    played.callback(kind="message", account=NUMBER, person="491709")
    assert send(played, to="+491709").status_code == 200


def buttons(number: int, **reply: str) -> dict[str, Any]:
    replies = [{"id": f"id {one}", "title": f"Title {one}"} | reply for one in range(number)]
    action = {"buttons": [{"type": "reply", "reply": one} for one in replies]}
    return {"type": "button", "body": {"text": "Which?"}, "action": action}


def rows(number: int, **row: str) -> dict[str, Any]:
    found = [{"id": f"id {one}", "title": f"Title {one}"} | row for one in range(number)]
    return {"type": "list", "body": {"text": "Which?"}, "action": {"button": "Choose", "sections": [{"rows": found}]}}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"type": "text", "text": {"body": "x" * 4097}}, 131009),
        ({"type": "image", "image": {"link": "https://a.example/b", "caption": "x" * 1025}}, 131009),
        ({"type": "image", "image": {"id": "404"}}, 131009),
        ({"type": "interactive", "interactive": buttons(4)}, 131009),
        ({"type": "interactive", "interactive": buttons(2, title="x" * 21)}, 131009),
        ({"type": "interactive", "interactive": buttons(2) | {"body": {}}}, 131009),
        ({"type": "interactive", "interactive": buttons(2) | {"type": "flow"}}, 131009),
        ({"type": "interactive", "interactive": rows(11)}, 131009),
        ({"type": "interactive", "interactive": rows(2, description="x" * 73)}, 131009),
        ({"type": "template", "template": {"name": "nothing", "language": {"code": "en_US"}}}, 132001),
        ({"type": "template", "template": {"name": "paused", "language": {"code": "en_US"}}}, 132015),
        ({"type": "template", "template": {"name": "order_ready", "language": {"code": "en_US"}}}, 132000),
    ],
)
def test_what_does_not_fit_is_refused(played: RunningSandbox, body: dict[str, Any], code: int) -> None:
    assert send(played, **body).json()["error"]["code"] == code


@pytest.mark.parametrize("interactive", [buttons(3), rows(10, description="x" * 72)])
def test_buttons_and_lists_that_fit_are_taken(played: RunningSandbox, interactive: dict[str, Any]) -> None:
    assert send(played, type="interactive", interactive=interactive).status_code == 200


REPLY = {"content_type": "text", "title": "Yes", "payload": "yes"}
POSTBACK = {"type": "postback", "title": "Yes", "payload": "yes"}


def a_template(*buttons: dict[str, Any], **payload: str) -> dict[str, Any]:
    content = {"template_type": "button", "text": "Which?", "buttons": list(buttons)} | payload
    return {"attachment": {"type": "template", "payload": content}}


@pytest.mark.parametrize(
    ("message", "fits"),
    [
        ({"text": "Which?", "quick_replies": [REPLY] * 13}, True),
        ({"text": "Which?", "quick_replies": [REPLY] * 14}, False),
        ({**a_template(POSTBACK), "quick_replies": [REPLY]}, False),
        ({"text": "Which?", "quick_replies": [REPLY | {"title": "x" * 21}]}, False),
        (a_template(*[POSTBACK] * 3), True),
        (a_template(*[POSTBACK] * 4), False),
        (a_template(POSTBACK, text="x" * 641), False),
        (a_template({"type": "web_url", "title": "Look", "url": "https://a.example"}), True),
        (a_template({"type": "web_url", "title": "Look", "url": "a.example"}), False),
    ],
)
def test_the_send_api_takes_what_fits(message: dict[str, Any], fits: bool) -> None:
    with nullcontext() if fits else pytest.raises(SendRefused):
        check_page_message("facebook", message)


def test_a_file_is_uploaded_looked_up_and_fetched(played: RunningSandbox) -> None:
    token = write(Token(person="ann", kind="SYSTEM_USER", granted=SCOPES), played.config.app_secret)
    headers = {"Authorization": f"Bearer {token}"}
    content = b"\x00\xff" * 700_000
    uploaded = requests.post(
        f"{played.url}/v26.0/{NUMBER}/media",
        data={"messaging_product": "whatsapp"},
        files={"file": ("a.png", content, "image/png")},
        headers=headers,
        timeout=60,
    )
    media_id = uploaded.json()["id"]
    assert send(played, type="image", image={"id": media_id}).status_code == 200
    found = requests.get(f"{played.url}/v26.0/{media_id}", headers=headers, timeout=60).json()
    assert requests.get(found["url"], headers=headers, timeout=60).content == content
    assert requests.get(found["url"], timeout=60).status_code == 404


def test_changed_templates_are_told(played: RunningSandbox, product: Receiver) -> None:
    played.control("POST", "template", {"business": BUSINESS, "name": "waiting", "status": "APPROVED"})
    request = product.next(PATIENCE_SECONDS)
    assert request
    [change] = json.loads(request.body)["entry"][0]["changes"]
    assert (change["field"], change["value"]["event"]) == ("message_template_status_update", "APPROVED")


@pytest.mark.parametrize("kind", WHATSAPP)
def test_every_kind_of_a_whatsapp_message_is_composed(kind: str) -> None:
    body = compose({"kind": "message", "account": NUMBER, "type": kind, "target": "wamid.1", "file": FILE})
    [message] = body["entry"][0]["changes"][0]["value"]["messages"]
    assert (message["type"], kind in message or kind == "unsupported") == (kind, True)


@pytest.mark.parametrize("kind", PAGE)
def test_every_kind_of_a_page_s_event_is_composed(kind: str) -> None:
    body = compose({"kind": "message", "platform": "facebook", "account": PAGE_ID, "type": kind, "target": "m_1"})
    [event] = body["entry"][0]["messaging"]
    assert {"sender", "recipient", "timestamp"} < set(event)


def test_people_without_a_number_and_ten_at_once() -> None:
    body = compose({"kind": "message", "account": NUMBER, "user_id": "US.1", "count": 10})
    value = body["entry"][0]["changes"][0]["value"]
    assert len(value["messages"]) == 10
    assert (value["contacts"][0]["user_id"], "from" in value["messages"][0]) == ("US.1", False)
