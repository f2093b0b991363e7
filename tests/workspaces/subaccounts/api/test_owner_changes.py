"""`PUT …/owner` and `POST …/owner/invite`: another owner, and the invitation again."""

from typing import Any
from uuid import uuid4

import pytest
from django.core import mail as outbox
from django.utils.timezone import now

from agency.models import ActivityEntry, Mail, User
from agency.services import lease_next_mail, send_due_mail
from tests.database.traces import traces
from tests.factories import UserFactory, WorkspaceFactory
from tests.tenants import Tenant, message
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import OwnerHasPassword

GRACE = {"name": "Grace", "email": "grace@example.com"}


def hand_over(tenant: Tenant, **owner: Any) -> Any:
    return tenant.api.put(f"{tenant.path}/owner", GRACE | owner)


def invited() -> list[str]:
    """Whom e-mails have invited so far."""
    while mail := lease_next_mail(now=now()):
        send_due_mail(mail=mail, now=now())
    return [sent.to[0] for sent in outbox.outbox]


def test_a_new_owner_is_on_the_card_and_invited(a: Tenant) -> None:
    before = a.api.get(a.path).json()["data"]
    invited()
    answer = hand_over(a, name=" Grace ", email="Grace@Example.com")
    assert answer.status_code == 200
    assert answer.json()["data"] == {name: value for name, value in before.items() if name in answer.json()["data"]} | {
        "owner": GRACE
    }
    assert a.api.get("/workspaces").json()["data"][0]["owner"] == GRACE
    assert Workspace.objects.get().owner.email == "grace@example.com"
    assert invited()[1:] == ["grace@example.com"]


def test_a_person_of_another_tenant_is_asked_and_stays_as_they_are(a: Tenant) -> None:
    known = UserFactory.create(email="grace@example.com", name="Her own name", password="kept")
    path = a.path
    assert a.api.put(f"{path}/owner", GRACE).json()["data"]["owner"] == GRACE
    assert not Workspace.objects.owned_by(known).exists()
    assert Mail.objects.latest("id").kind == Mail.Kind.OWNERSHIP_INVITATION
    known.refresh_from_db()
    assert (known.name, known.check_password("kept")) == ("Her own name", True)


def test_one_entry_tells_of_it_and_no_event(a: Tenant) -> None:
    former = a.workspace.owner_email
    hand_over(a)
    entry = ActivityEntry.objects.get(action="workspace.owner_replaced")
    assert entry.changes == {"email": [former, "grace@example.com"]}
    assert entry.workspace_uuid == a.workspace.uuid
    assert a.event_names() == ["workspace.created"]


def test_the_same_owner_again_changes_nothing(a: Tenant) -> None:
    hand_over(a)
    before = traces()
    assert hand_over(a, email="GRACE@example.com").status_code == 200
    assert traces() == before


def test_the_same_person_by_another_name_is_no_new_invitation(a: Tenant) -> None:
    hand_over(a)
    mails = Mail.objects.count()
    assert hand_over(a, name="Grace H.").json()["data"]["owner"] == GRACE | {"name": "Grace H."}
    assert (Mail.objects.count(), User.objects.get(email="grace@example.com").name) == (mails, "Grace")


@pytest.mark.parametrize(
    ("owner", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": None}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"email": "nobody"}, "email"),
        ({"email": None}, "email"),
        ({"email": 7}, "email"),
    ],
)
def test_an_owner_who_cannot_be_is_refused(a: Tenant, owner: dict[str, Any], field: str) -> None:
    path = a.path
    before = traces()
    refused = a.api.put(f"{path}/owner", GRACE | owner)
    assert (refused.status_code, list(refused.json()["errors"])) == (422, [field])
    assert traces() == before


def test_the_invitation_goes_out_again_until_there_is_a_password(a: Tenant) -> None:
    owner = a.workspace.owner
    assert invited() == [owner.email]
    answer = a.api.post(f"{a.path}/owner/invite")
    assert (answer.status_code, answer.json()["data"]["owner"]["email"]) == (202, owner.email)
    assert invited() == [owner.email] * 2
    assert ActivityEntry.objects.filter(action="workspace.owner_invited").count() == 1
    owner.set_password("a-quite-long-pass-phrase")
    owner.save()
    before = traces()
    refused = a.api.post(f"{a.path}/owner/invite", {})
    assert (refused.status_code, message(refused)) == (409, OwnerHasPassword.message)
    assert traces() == before


def test_a_repeated_invitation_with_one_key_is_sent_once(a: Tenant) -> None:
    path = f"{a.path}/owner/invite"
    answers = [a.api.post(path, {}, Idempotency_Key="once") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 202]
    assert answers[1]["Idempotent-Replayed"] == "true"
    assert Mail.objects.count() == 2


def test_an_owner_without_a_password_is_invited_with_each_new_sub_account(a: Tenant) -> None:
    for name in ("One", "Two"):
        WorkspaceFactory.create(agency=a.agency, name=name, owner_email="ada@example.com")
    assert invited() == ["ada@example.com"] * 2
    User.objects.get().set_password("kept")
    UserFactory.create(email="known@example.com", password="kept")
    WorkspaceFactory.create(agency=a.agency, owner_email="known@example.com")
    assert invited() == ["ada@example.com"] * 2


def test_an_unknown_sub_account_is_404(a: Tenant, b: Tenant) -> None:
    for uuid in (uuid4(), b.workspace.uuid, "x"):
        answers = [a.api.put(f"/workspaces/{uuid}/owner", GRACE), a.api.post(f"/workspaces/{uuid}/owner/invite")]
        assert [(answer.status_code, message(answer)) for answer in answers] == [(404, "Sub-account not found.")] * 2
