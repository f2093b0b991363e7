"""Following tracked links, and counting who did."""

from collections.abc import Iterator

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from broadcasts.content import FrozenMessage
from broadcasts.models import Broadcast, Click, Recipient
from broadcasts.public import MOST_UNKNOWN
from broadcasts.services import link_clicks
from broadcasts.services.counts import counts_of
from broadcasts.services.tracked_links import tracked_link
from broadcasts.tasks import count_clicks
from tests.broadcasts.under_way import a_broadcast, a_recipient

pytestmark = pytest.mark.django_db
PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 Version/19.0 Safari/604.1"
FIXED, NAMED = "https://shop.example/sale", "https://shop.example/?for={{contact.name}}"


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    link_clicks.link_cache.clear()
    yield
    link_clicks.link_cache.clear()


@pytest.fixture
def broadcast() -> Broadcast:
    return a_broadcast(frozen=FrozenMessage(text="{{link.0}}", variables=["contact.name"], links=[FIXED, NAMED]))


@pytest.fixture
def recipient(broadcast: Broadcast) -> Recipient:
    return a_recipient(broadcast, ["Ada & Co"])


def path_of(recipient: Recipient, number: int = 0) -> str:
    return tracked_link("", recipient.broadcast_id, recipient.contact_id, number)


def test_a_link_leads_to_the_frozen_address_and_says_nothing_of_where_from(recipient: Recipient) -> None:
    answer = Client().get(path_of(recipient), HTTP_USER_AGENT=PHONE)

    assert (answer.status_code, answer["Location"]) == (302, FIXED)
    assert answer["Referrer-Policy"] == "no-referrer"
    assert answer["Cache-Control"] == "no-store"
    assert not answer.cookies
    assert Click.objects.values_list("contact_id", flat=True).get() == recipient.contact_id


def test_an_address_with_variables_has_the_recipient_s_values(recipient: Recipient) -> None:
    answer = Client().get(path_of(recipient, 1), HTTP_USER_AGENT=PHONE)

    assert answer["Location"] == "https://shop.example/?for=Ada%20%26%20Co"


def test_a_person_counts_once_however_often_they_follow_which_link(broadcast: Broadcast, recipient: Recipient) -> None:
    for number in (0, 1, 0, 0, 1):
        Client().get(path_of(recipient, number), HTTP_USER_AGENT=PHONE)
    Client().get(path_of(a_recipient(broadcast)), HTTP_USER_AGENT=PHONE)
    first = Click.objects.earliest("id").clicked_at
    a_recipient(broadcast)
    count_clicks()
    Client().get(path_of(recipient), HTTP_USER_AGENT=PHONE)
    count_clicks()

    recipient.refresh_from_db()
    assert recipient.clicked_at == first
    assert counts_of([broadcast])[broadcast.pk]["clicked"] == 2
    assert not Click.objects.exists()


@pytest.mark.parametrize(
    "agent",
    [
        "",
        "WhatsApp/2.23.20.0 A",
        "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
        "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
        "TelegramBot (like TwitterBot)",
        "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120 Safari/537.36 Google-Messages",
        "Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5",
        "Mozilla/4.0 (compatible; ms-office; MSOffice 16)",
        "curl/8.0",
        "python-requests/2.32",
    ],
)
def test_previews_and_programs_are_led_on_and_not_counted(recipient: Recipient, agent: str) -> None:
    assert Client().get(path_of(recipient), HTTP_USER_AGENT=agent).status_code == 302
    assert not Click.objects.exists()


def test_a_head_and_a_look_ahead_do_not_count_but_a_phone_called_cubot_does(recipient: Recipient) -> None:
    client = Client(HTTP_USER_AGENT="Mozilla/5.0 (Linux; Android 14; CUBOT X70) Chrome/120 Mobile Safari/537.36")
    assert client.head(path_of(recipient))["Location"] == FIXED
    client.get(path_of(recipient), HTTP_SEC_PURPOSE="prefetch;prerender")
    assert not Click.objects.exists()

    client.get(path_of(recipient))
    assert Click.objects.count() == 1


def test_what_is_not_ours_is_404_and_tells_nothing(broadcast: Broadcast, recipient: Recipient) -> None:
    token = path_of(recipient)
    gone = tracked_link("", broadcast.pk + 1, recipient.contact_id, 0)
    draft = a_broadcast(broadcast.workspace, channel=broadcast.channel)
    Broadcast.objects.filter(pk=draft.pk).update(status="Draft", started_at=None, frozen=None, last_contact=None)
    unfrozen, unlisted = tracked_link("", draft.pk, recipient.contact_id, 0), path_of(recipient, 2)

    for path in (f"{token[:-1]}{'a' if token[-1] != 'a' else 'b'}", gone, unfrozen, unlisted, "/l/x", "/l/%2F%2Fevil"):
        answer = Client().get(path, HTTP_USER_AGENT=PHONE)
        assert answer.status_code == 404
        assert "Location" not in answer
    for browser in (Client(), Client(enforce_csrf_checks=True)):
        answer = browser.post(token)
        assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD")
    assert Client().get(token, HTTP_HOST="other.example").status_code == 404
    assert not Click.objects.exists()


def test_who_guesses_is_told_to_wait_and_who_has_a_link_is_not(recipient: Recipient) -> None:
    client = Client(REMOTE_ADDR="198.51.100.7")
    guesses = [client.get("/l/guess").status_code for _ in range(MOST_UNKNOWN + 1)]

    assert guesses == [404] * MOST_UNKNOWN + [429]
    assert client.get(path_of(recipient)).status_code == 302


def test_a_redirect_is_an_insert_and_at_most_one_query(recipient: Recipient) -> None:
    client = Client(HTTP_USER_AGENT=PHONE)
    found = []
    for number in (0, 0, 1):
        with CaptureQueriesContext(connection) as queries:
            client.get(path_of(recipient, number))
        found.append([query["sql"].split()[0] for query in queries])

    assert found == [["SELECT", "WITH"], ["WITH"], ["SELECT", "WITH"]]
