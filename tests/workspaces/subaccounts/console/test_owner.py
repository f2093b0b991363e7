"""A sub-account's owner in the console: another one, and the invitation again."""

import pytest
from django.test import Client

from agency.models import Mail
from tests.agency.console.browsers import flashes, text
from tests.tenants import Tenant
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import OwnerHasPassword

pytestmark = pytest.mark.django_db
AGAIN = "Send the invitation again"


@pytest.fixture
def path(a: Tenant) -> str:
    return f"/console/sub-accounts/{a.workspace.uuid}"


def test_another_owner_takes_over_and_is_invited(a: Tenant, path: str, admin: Client) -> None:
    form = admin.get(f"{path}/owner").context["form"]
    assert (form["name"].value(), form["email"].value()) == (a.workspace.owner_name, a.workspace.owner_email)
    page = admin.post(f"{path}/owner", {"name": "Grace", "email": " Grace@Example.com "}, follow=True)
    assert flashes(page) == [f"Grace is the owner of {a.workspace.name}."]
    assert "Grace grace@example.com Invitation pending" in text(page)
    assert Mail.objects.latest("id").recipient == Workspace.objects.get().owner.email
    assert f"{a.workspace.owner_email} grace@example.com" in text(admin.get(f"{path}/activity"))


@pytest.mark.parametrize(("field", "wrong"), [("name", ""), ("email", "nobody"), ("name", "\u202eevil")])
def test_an_owner_who_cannot_be_is_refused_beside_the_field(
    a: Tenant, path: str, admin: Client, field: str, wrong: str
) -> None:
    page = admin.post(f"{path}/owner", {"name": "Grace", "email": "grace@example.com"} | {field: wrong})
    assert page.status_code == 422
    assert f'id="id_{field}_error"' in page.content.decode()
    assert Workspace.objects.get().owner_email == a.workspace.owner_email


def test_the_invitation_is_sent_again_while_there_is_no_password(a: Tenant, path: str, admin: Client) -> None:
    assert AGAIN in text(admin.get(path))
    page = admin.post(f"{path}/owner/invite", follow=True)
    assert flashes(page) == [f"The owner of {a.workspace.name} is invited again."]
    assert Mail.objects.filter(kind=Mail.Kind.OWNER_INVITATION).count() == 2
    a.workspace.owner.set_password("a-quite-long-pass-phrase")
    a.workspace.owner.save()
    assert AGAIN not in text(admin.get(path))
    late = admin.post(f"{path}/owner/invite", follow=True)
    assert flashes(late) == [OwnerHasPassword.message]
    assert Mail.objects.filter(kind=Mail.Kind.OWNER_INVITATION).count() == 2


def test_a_viewer_changes_no_owner(path: str, viewer: Client) -> None:
    page = viewer.get(path)
    assert AGAIN not in text(page)
    assert f'{path}/owner"' not in page.content.decode()


def test_the_page_shows_the_external_id_and_the_notes(a: Tenant, path: str, admin: Client, viewer: Client) -> None:
    a.api.patch(a.path, {"external_id": "crm-4711", "metadata": {"<b>region</b>": "north & south"}})
    shown = text(viewer.get(path))
    assert "External ID crm-4711" in shown
    assert "<b>region</b> north & south" in shown
    form = admin.get(f"{path}/edit").context["form"]
    assert form["external_id"].value() == "crm-4711"
    fields = {"name": a.workspace.name, "timezone": "UTC"}
    admin.post(f"{path}/edit", fields | {"external_id": "crm-1"})
    assert Workspace.objects.get().external_id == "crm-1"
    admin.post(f"{path}/edit", fields | {"external_id": ""})
    assert Workspace.objects.get().external_id is None
    a.api.post("/workspaces", {"name": "X", "external_id": "crm-2", "owner": {"name": "A", "email": "a@example.com"}})
    taken = admin.post(f"{path}/edit", fields | {"external_id": "crm-2"})
    assert (taken.status_code, 'id="id_external_id_error"' in taken.content.decode()) == (422, True)
