"""`manage.py erase_person`: afterwards nothing in the database names the person, and everybody else works on."""

import io
import shlex
from typing import Any, Literal

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils.timezone import now

from agency import tenants
from agency.actors import Actor
from agency.models import ActivityEntry, Event, Mail, Member, User
from agency.services import add_member, change_agency, write_event
from agency.services.activity import record_activity
from agency.services.members import change_user
from config.operations.management.commands import erase_person
from tests import furnished
from tests.factories import WorkspaceMemberFactory
from tests.factories.webhooks import a_failed_delivery
from tests.tenants import Tenant, a_new_customer
from webhooks.models import Attempt
from workspaces.contacts.models import Task
from workspaces.contacts.services.tasks import create_task
from workspaces.subaccounts.models import Workspace, WorkspaceMember
from workspaces.subaccounts.services import issue_workspace_key

a = furnished.a_with_customer

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
NAME, EMAIL = "Zoë O'Neil-Ünal", "zoe.oneil@example.com"
TABLES = """
SELECT c.relname, a.attname, t.typname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
JOIN pg_type t ON t.oid = a.atttypid
WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
    AND t.typcategory IN ('S', 'A', 'U')
"""


def mentions(*words: str) -> set[str]:
    """Grep the whole database, every value that is text, JSON, an array or bytes."""
    found = set()
    with connection.cursor() as cursor:
        cursor.execute(TABLES)
        for table, column, kind in cursor.fetchall():
            cursor.execute(f'SELECT "{column}" FROM "{table}" WHERE "{column}" IS NOT NULL')  # noqa: S608
            for (value,) in cursor.fetchall():
                text = bytes(value).decode(errors="replace") if kind == "bytea" else str(value)
                if any(word.casefold() in text.casefold() for word in words):
                    found.add(f"{table}.{column}")
    return found


def erase(*arguments: str) -> str:
    output = io.StringIO()
    call_command("erase_person", *arguments, stdout=output)
    return output.getvalue()


@pytest.fixture
def person(a: Tenant) -> User:
    """Somebody who left traces wherever people do."""
    by = Actor(kind="user", id="1", label=EMAIL.upper(), address="192.0.2.7")
    customer = a_new_customer(owner={"name": NAME, "email": EMAIL})
    assert a.api.post("/workspaces", customer, Idempotency_Key="once").status_code == 201
    user = User.objects.get(email=EMAIL)
    user.set_password("a long password of hers")
    user.save()
    add_member(agency=a.agency, email=EMAIL, name=NAME, role="admin", by=by)
    WorkspaceMemberFactory.create(workspace=a.workspace, email=EMAIL, name=NAME)
    change_user(user=user, by=by, name=NAME)
    change_agency(agency=a.agency, name=f"{NAME} and partners", max_sub_accounts=None, by=by)
    issue_workspace_key(workspace=a.workspace, name=f"of {EMAIL}", by=by)
    data = {"workspace": {"uuid": str(a.workspace.uuid), "name": f"At {NAME}", "status": "active", "plan": None}}
    write_event(tenant=tenants.Tenant(a.agency.pk), name="workspace.suspended", data=data, now=now())
    create_task(workspace=a.workspace, title=f"Call {NAME}".ljust(200, "!"), assigned_to=user, now=now(), by=by)
    delivery = a_failed_delivery(a, a.endpoint)
    Attempt.objects.filter(delivery=delivery).update(response_body=f'"{EMAIL}" {NAME}'.encode() + b"\x00\xff")
    delivery.body = f'{{"owner": "{NAME} <{EMAIL}>"}}'.encode()
    delivery.save()
    return user


@pytest.fixture
def heir(a: Tenant) -> User:
    return User.objects.create_user("heir@example.com", name="Heir")


@pytest.mark.usefixtures("owner")
@pytest.mark.parametrize("kind", ["user", "staff"])
def test_where_the_person_worked_from_is_forgotten_and_others_are_not(
    kind: Literal["user", "staff"], a: Tenant, person: User, heir: User
) -> None:
    for who in (person, heir):
        by = Actor(kind=kind, id=str(who.pk), label=who.email, address="2001:db8::7", request_id="asked")
        record_activity(by=by, action="agency.changed", agency_id=a.agency.pk, target=("agency", a.agency.pk, "A"))
    erase(EMAIL, "--replacement", heir.email)
    seen = ActivityEntry.objects.filter(request_id="asked").values_list("actor_id", "address")
    assert set(seen) == {(str(person.pk), ""), (str(heir.pk), "2001:db8::7")}


@pytest.mark.usefixtures("owner")
def test_nothing_names_the_person_afterwards(a: Tenant, person: User, heir: User) -> None:
    named = mentions(EMAIL, NAME)
    assert ActivityEntry.objects.get(action="agency.changed").changes["name"][1] == f"{NAME} and partners"
    assert {
        "agency_activityentry.changes",
        "agency_user.email",
        "agency_event.body",
        "contacts_task.title",
        "contacts_task.created_by_label",
        "api_idempotencyrecord.body",
    } <= named
    entries = ActivityEntry.objects.count()
    written = erase(EMAIL, "--replacement", heir.email)
    assert mentions(EMAIL, NAME) == set()
    assert "agency_event.body: 1 rows rewritten" in written
    assert ActivityEntry.objects.count() > entries  # none was lost, and the erasure is written down
    assert ActivityEntry.objects.filter(action="user.erased").count() == 1
    assert not Mail.objects.filter(user=person).exists()
    assert not Member.objects.filter(user=person).exists()
    assert not WorkspaceMember.objects.filter(user=person).exists()
    assert Task.objects.get().assigned_to is None


def test_the_person_is_shut_out_and_others_are_not(a: Tenant, person: User, heir: User, owner: Client) -> None:
    hers = Client()
    hers.force_login(person)
    assert hers.session.session_key
    erase(EMAIL, "--replacement", heir.email)
    person.refresh_from_db()
    assert (person.is_active, person.has_usable_password(), person.name) == (False, False, "")
    assert person.email == f"erased-{person.pk}@erased.invalid"
    assert not hers.session.load()
    assert owner.get("/console/").status_code == 200
    rows = a.api.get("/workspaces").json()["data"]
    assert {"name": "Heir", "email": "heir@example.com"} in [row["owner"] for row in rows]
    assert Event.objects.filter(agency=a.agency).exists()


def test_a_dry_run_says_where_the_person_is_named_and_changes_nothing(person: User) -> None:
    before = mentions(EMAIL, NAME)
    written = erase(EMAIL, "--dry-run")
    assert "agency_user.email: 1 rows would be rewritten" in written
    assert {line.split(":")[0] for line in written.splitlines()} == before
    assert mentions(EMAIL, NAME) == before


@pytest.mark.usefixtures("owner")
def test_what_was_interrupted_is_finished_by_the_line_that_it_began_with(
    person: User, heir: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(user: User) -> None:
        raise KeyboardInterrupt

    output = io.StringIO()
    with monkeypatch.context() as patched:
        patched.setattr(erase_person, "forget_addresses", die)
        with pytest.raises(KeyboardInterrupt):
            call_command("erase_person", EMAIL, "--replacement", heir.email, stdout=output)
    assert mentions(EMAIL, NAME)
    line = shlex.split(output.getvalue().partition("manage.py erase_person ")[2])
    erase(*line)
    assert mentions(EMAIL, NAME) == set()
    erase(*line)  # once more harms nothing


def test_whoever_owns_sub_accounts_must_be_replaced_first(person: User) -> None:
    before = mentions(EMAIL, NAME)
    with pytest.raises(CommandError, match="owns 1 sub-accounts"):
        erase(EMAIL)
    assert mentions(EMAIL, NAME) == before
    assert Workspace.objects.filter(owner=person).exists()


def test_the_last_owner_of_an_agency_stays(a: Tenant, person: User, heir: User) -> None:
    Member.objects.filter(user=person).update(role="owner")
    with pytest.raises(CommandError, match="needs at least one owner"):
        erase(EMAIL, "--replacement", heir.email)
    assert User.objects.filter(email=EMAIL, is_active=True).exists()
    assert Workspace.objects.filter(owner=person).exists()


@pytest.mark.parametrize("arguments", [("nobody@example.com",), (EMAIL, "--replacement", EMAIL)])
def test_who_cannot_be_erased_so(person: User, arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        erase(*arguments)


def test_words_that_only_look_alike_stay(a: Tenant, heir: User) -> None:
    kept: dict[str, Any] = {"name": "Will Call Willing", "owner": {"name": "Will", "email": "xwill@example.com"}}
    uuid = a.api.post("/workspaces", kept).json()["data"]["uuid"]
    User.objects.create_user("will@example.com", name="Will")
    erase("will@example.com")
    workspace = Workspace.objects.get(uuid=uuid)
    assert (workspace.name, workspace.owner_email) == ("Will Call Willing", "xwill@example.com")
