"""A salon connects its number, is given the starter pack, switches on what can run, and people write to it."""

import hashlib
import hmac
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from django.test import Client
from django.utils.timezone import now

from channelconnect.inbox.reading import read_waiting
from tests import furnished
from tests.agency.console.browsers import flashes, text
from tests.channelconnect.inbox.notices import NUMBER, message, of_number
from tests.factories import ChannelFactory, WorkspaceFactory, a_workspace_key
from tests.tenants import WORKSPACE_BASE, Api, Tenant
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.automations.engine.loop import run_due
from workspaces.automations.models import AutomationRun, ContactQueue, TriggerEvent
from workspaces.contacts.models import Contact
from workspaces.conversations.models import Conversation, Message, Note
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.models.workspaces import DAYS

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db

READY = "/app/automations/ready"
AFTER_HOURS, SHORT_NOTICE = "We are closed, but we have read you", "Short-notice list"
ADA, BO, CY, DI = PEOPLE = [f"491700000000{number}" for number in range(4)]
NAMES = dict(zip(PEOPLE, ("Ada", "Bo", "Cy", "Di"), strict=True))
APP_SECRET = "the app's secret"
numbers = count(1)


@pytest.fixture(autouse=True)
def _app(settings: Any) -> None:
    settings.META_APP_SECRET = APP_SECRET


@pytest.fixture
def salon(a: Tenant) -> Workspace:
    """A salon that is closed today, with the starter pack that came with its first number."""
    workspace: Workspace = WorkspaceFactory.create(agency=a.agency, business_type="salon_spa", name="Corner Salon")
    ChannelFactory.create(workspace=workspace, external_id=NUMBER)
    opens = DAYS[(now() + timedelta(days=2)).weekday()]
    api = Api(WORKSPACE_BASE, a_workspace_key(workspace)[1])
    assert api.patch("/workspace", {"opening_hours": {opens: [["10:00", "18:00"]]}}).status_code == 200
    return workspace


def say(person: str, words: str) -> None:
    """The network's signed callback about a message, the reader, and what is due in the engine then."""
    stamp = {"from": person, "id": f"wamid.{next(numbers)}", "timestamp": str(int(now().timestamp()))}
    profile = {"profile": {"name": NAMES[person]}, "wa_id": person}
    body = of_number(contacts=[profile], messages=[message(type="text", text={"body": words}) | stamp])
    proof = "sha256=" + hmac.new(APP_SECRET.encode(), body, hashlib.sha256).hexdigest()
    headers = {"X-Hub-Signature-256": proof}
    answer = Client().post("/connect/provider-events", body, content_type="application/json", headers=headers)
    assert answer.status_code == 200
    assert read_waiting() == 1
    run_due()


def pass_until_the_next_wait_ends() -> None:
    """Move the moments for which runs wait into the past, and let the engine look."""
    AutomationRun.objects.filter(status="waiting").update(wait_until=now() - timedelta(seconds=1))
    ContactQueue.objects.filter(ready_at__isnull=False).update(ready_at=now() - timedelta(seconds=1))
    run_due()


def answers(person: str) -> list[str]:
    of = Message.objects.filter(direction="out", conversation__contact__phone=f"+{person}")
    return list(of.order_by("pk").values_list("text", flat=True))


def run_of(person: str) -> AutomationRun:
    return AutomationRun.objects.get(contact_id=Contact.objects.get(phone=f"+{person}").pk)


def reasons(person: str) -> list[tuple[str, str]]:
    contact = Contact.objects.get(phone=f"+{person}")
    rows = TriggerEvent.objects.filter(contact_id=contact.pk).order_by("pk")
    return [(str(row.outcome), row.reason) for row in rows]


def switch_on(owner: Client, salon: Workspace) -> None:
    """Switch on all that is ready. The page says why the rest is not: nothing can be booked, no template is chosen."""
    shown = text(owner.get(READY))
    assert "2 are ready" in shown
    booking, touch_up, birthday = (
        salon.automations.get(from_original=f"salons-{name}").name
        for name in ("booking-assistant", "time-for-a-touch-up", "birthday-offer")
    )
    assert f"{booking} This needs a service or product to sell." in shown
    assert f"{touch_up} No template is chosen (Step 4: Send a template)." in shown
    assert f"{birthday} No template is chosen (Step 2: Send a template)." in shown
    assert not salon.automations.filter(from_original="salons-missed-visit").exists(), "is not for WhatsApp"
    ready = [one for one in salon.automations.all() if str(one.uuid) in owner.get(READY).content.decode()]
    answer = owner.post(READY, {"automation": [str(one.uuid) for one in ready]}, follow=True)
    assert flashes(answer) == ["2 automations are on now."]
    assert set(salon.automations.filter(enabled=True).values_list("from_original", flat=True)) == {
        "professional-after-hours",
        "salons-short-notice-list",
    }
    refused = salon.automations.get(from_original="salons-booking-assistant")
    answer = owner.post(f"/app/automations/{refused.uuid}/on", follow=True)
    assert "a service or product to sell" in flashes(answer)[0]


def test_a_salon_s_first_evening(salon: Workspace) -> None:
    owner = dashboard_client(salon)
    switch_on(owner, salon)

    # Ada writes for the first time, and the salon is closed. Her answer is noted; at the opening a person is told.
    say(ADA, "Good evening")
    assert answers(ADA)[0].startswith("Thank you for writing to Corner Salon. We are open ")
    say(ADA, "A new colour, please")
    assert answers(ADA)[1:] == ["Thank you, noted. A colleague will write to you when we open."]
    assert Note.objects.get().text == "Wrote after hours: A new colour, please"
    waiting = AutomationRun.objects.get(status="waiting")
    assert waiting.wait_kind == "time"
    assert waiting.wait_until
    assert waiting.wait_until > now()
    pass_until_the_next_wait_ends()
    assert answers(ADA)[2:] == ["Good morning! We have your message in front of us."]
    say(ADA, "sooner, please")
    assert len(answers(ADA)) == 3
    assert reasons(ADA) == [("started", "first_message"), ("continued", "answer"), ("nothing", "people_have_it")]

    # Bo asks for a gap: a keyword goes before the first message. He answers the question and the choice.
    say(BO, "Do you have anything EARLIER?")
    assert answers(BO) == ["We often have a time at short notice. Which treatment would you like?"]
    say(BO, "Highlights, or sooner a cut")
    say(BO, "2")
    assert answers(BO)[1:] == [
        "And when could you come at short notice?",
        "You are on the list, Bo. We will write as soon as something becomes free.",
    ]
    assert Contact.objects.get(phone=f"+{BO}").tags == ["Short-notice list"]
    assert Note.objects.latest("pk").text == "Short notice: Highlights, or sooner a cut, Afternoons"
    assert reasons(BO) == [("started", "keyword"), ("continued", "answer"), ("continued", "answer")]

    # Cy opts out in the middle of the question. It is confirmed, and then nothing is sent any more.
    say(CY, "Anything sooner?")
    assert len(answers(CY)) == 1
    say(CY, "STOP")
    assert run_of(CY).status == "stopped"
    say(CY, "sooner")
    assert answers(CY)[1:] == ["You will get no more messages from Corner Salon. Write START if you change your mind."]
    assert reasons(CY)[1:] == [("nothing", "opted_out")] * 2

    # Di does not answer. The wait ends by itself.
    say(DI, "last minute?")
    pass_until_the_next_wait_ends()
    assert (run_of(DI).status, len(answers(DI))) == ("completed", 1)
    assert AutomationRun.objects.filter(status__in=AutomationRun.ACTIVE).count() == 0

    # The owner reads in the thread why Ada's last message was not answered.
    thread = Conversation.objects.get(contact__phone=f"+{ADA}")
    assert "A person has taken over this conversation." in text(owner.get(f"/app/inbox/{thread.uuid}"))
