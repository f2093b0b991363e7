"""The owner of a new sub-account: attached when the agency has them, else asked. More in test_owner_consent.py."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail as outbox
from django.utils.timezone import now

from agency.models import Mail, User
from tests.agency.console.browsers import a_browser
from tests.agency.invitations import NEW, join, mailed_link
from tests.factories import UserFactory
from tests.parallel import at_once
from tests.tenants import Tenant, a_new_customer
from workspaces.subaccounts.models import Workspace

PASSWORD = "a-quite-long-pass-phrase"


def create(tenant: Tenant, email: str, name: str = "Ada") -> dict[str, Any]:
    response = tenant.api.post("/workspaces", a_new_customer(owner={"name": name, "email": email}))
    assert response.status_code == 201, response.content
    return dict(response.json()["data"])


def owner_of(sub_account: dict[str, Any]) -> User:
    return Workspace.objects.select_related("owner").get(uuid=sub_account["uuid"]).owner


def test_a_known_owner_is_attached_and_keeps_name_and_password(a: Tenant) -> None:
    known = UserFactory.create(email="known@example.com", name="Known", password="kept")
    sub_account = create(a, "Known@Example.com", "Called otherwise")
    assert owner_of(sub_account) == known
    assert sub_account["owner"] == {"name": "Called otherwise", "email": "known@example.com"}
    known.refresh_from_db()
    assert (known.name, known.check_password("kept")) == ("Known", True)


def test_an_owner_whom_the_agency_has_already_owns_the_next_at_once_and_hears_nothing(a: Tenant) -> None:
    known = a.workspace.owner
    known.set_password(PASSWORD)
    known.save()
    Mail.objects.all().delete()
    sub_account = create(a, known.email)
    assert Workspace.objects.owned_by(known).filter(uuid=sub_account["uuid"]).exists()
    assert not Mail.objects.exists()


def test_an_agency_never_learns_the_name_that_another_knows(a: Tenant, b: Tenant) -> None:
    create(a, "ada@example.com", "Ada as A knows her")
    sub_account = create(b, "ada@example.com", "Ada as B knows her")
    assert "as A knows" not in str(b.api.get(f"/workspaces/{sub_account['uuid']}").json())


def test_a_new_owner_becomes_a_user_without_a_password_who_is_asked(a: Tenant) -> None:
    owner = owner_of(create(a, "New.Owner@Example.COM"))
    assert (owner.email, owner.name, owner.has_usable_password()) == ("new.owner@example.com", "Ada", False)
    assert (owner.is_staff, owner.is_superuser, owner.is_active) == (False, False, True)
    mail = Mail.objects.get()
    assert (mail.kind, mail.recipient, mail.sent_at) == ("ownership_invitation", owner.email, None)
    assert not Workspace.objects.owned_by(owner).exists()


def test_a_new_owner_gets_all_that_the_agency_has_set_up_with_the_first_link(a: Tenant) -> None:
    first, second = create(a, "ada@example.com"), create(a, "ADA@example.com")
    owner = owner_of(first)
    assert owner == owner_of(second)
    assert [mail.kind for mail in Mail.objects.all()] == ["ownership_invitation"] * 2
    join(a_browser(), mailed_link())
    assert Workspace.objects.owned_by(owner).count() == 2
    create(a, "ada@example.com")
    assert Workspace.objects.owned_by(owner).count() == 3
    assert Mail.objects.count() == 2


def test_the_mail_names_agency_and_sub_account_and_its_link_sets_a_password(a: Tenant) -> None:
    owner = owner_of(create(a, "ada@example.com"))
    link = mailed_link()
    text = str(outbox.outbox[-1].body)
    assert a.agency.name in text
    assert "Corner Salon" in text
    assert join(a_browser(), link)["Location"] == "/app/"
    owner.refresh_from_db()
    assert owner.check_password(NEW)


def test_the_link_works_once(a: Tenant) -> None:
    owner = owner_of(create(a, "ada@example.com"))
    link = mailed_link()
    join(a_browser(), link)
    assert a_browser().get(link, follow=True).status_code == 410
    join(a_browser(), link, new_password1="another-quite-long-phrase", new_password2="another-quite-long-phrase")
    owner.refresh_from_db()
    assert owner.check_password(NEW)


def test_a_preview_of_the_link_does_not_use_it_up(a: Tenant) -> None:
    owner = owner_of(create(a, "ada@example.com"))
    link = mailed_link()
    for _ in range(3):
        a_browser().get(link, follow=True)
        a_browser().head(link)
    join(a_browser(), link)
    owner.refresh_from_db()
    assert owner.check_password(NEW)


def test_the_link_ends_after_seven_days(a: Tenant) -> None:
    owner = owner_of(create(a, "ada@example.com"))
    link = mailed_link()
    with time_machine.travel(now() + timedelta(days=7, minutes=1), tick=False):
        assert a_browser().get(link, follow=True).status_code == 410
    owner.refresh_from_db()
    assert not owner.has_usable_password()


def test_a_refused_creation_invites_nobody(a: Tenant) -> None:
    a.api.post("/workspaces", a_new_customer(plan="8d1f3b1e-52b4-4c8e-9a3e-2f6c7d8e9f10"))
    assert not Mail.objects.exists()
    assert not User.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_one_new_owner_of_many_sub_accounts_created_at_once_is_one_user_whom_both_ask(a: Tenant, b: Tenant) -> None:
    tenants = (a, b)
    owner = {"name": "Ada", "email": "ada@example.com"}
    answers = at_once(
        lambda number: tenants[number % 2].api.post("/workspaces", a_new_customer(owner=owner)).status_code, times=8
    )
    assert answers == [201] * 8
    person = User.objects.get(email="ada@example.com")
    assert not Workspace.objects.owned_by(person).exists()
    assert Workspace.objects.filter(owner=person).count() == 8
    assert Mail.objects.filter(recipient=person.email).count() == 8
