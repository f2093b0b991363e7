"""Support finds an agency, and what belongs to one, by whatever a customer can name."""

import uuid
from collections.abc import Callable

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agency.actors import SYSTEM
from agency.models import Agency, Event, User
from agency.services import issue_agency_key
from tests.agency.console.browsers import text
from tests.factories import ChannelFactory, DomainFactory, EndpointFactory, MemberFactory
from tests.webhooks.delivering import make_deliveries
from webhooks.models import Delivery, Endpoint
from webhooks.services.deliveries import redeliver
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import issue_workspace_key

pytestmark = pytest.mark.django_db
FIND = "/admin/agency/agency/find/"


def found(browser: Client, query: str) -> dict[str, list[str]]:
    """What a query finds: titles by the name of the source."""
    page = browser.get(FIND, {"q": query})
    assert page.status_code == 200
    return {group.declared.name: [row.title for row in group.rows] for group in page.context["groups"]}


def test_each_thing_is_found_by_what_people_know_of_it(support: Client, agency: Agency, workspace: Workspace) -> None:
    DomainFactory.create(agency=agency, host="chat.quayside.example")
    MemberFactory.create(agency=agency, email="boss@quayside.example")
    _, key = issue_agency_key(agency=agency, name="Till", can_copy=False, by=SYSTEM)
    Workspace.objects.filter(pk=workspace.pk).update(external_id="CRM-4711")
    ours = {"workspaces": ["Quayside Cycles"]}
    assert found(support, agency.name.upper()) == {"agencies": [agency.name]}
    assert found(support, str(agency.uuid)) == {"agencies": [agency.name]}
    assert found(support, "chat.quay") == {"hosts": ["chat.quayside.example"]}
    assert found(support, "BOSS@quayside") == {"members": ["boss@quayside.example"]}
    assert found(support, key[:12]) == {"keys": [f"Till ({key[:12]}…)"]}
    assert key not in support.get(FIND, {"q": key[:12]}).content.decode()
    for known in ("side cyc", "owner@example", "crm-4711", str(workspace.uuid), str(workspace.uuid).upper()):
        assert found(support, known) == ours, known
    assert agency.name in text(support.get(FIND, {"q": "crm-4711"}))


def test_webhooks_are_found_by_their_url_and_channels_by_their_number(
    support: Client, agency: Agency, workspace: Workspace
) -> None:
    endpoint = EndpointFactory.create(agency=agency)
    Endpoint.objects.filter(pk=endpoint.pk).update(url="https://till.example/hooks/orders")
    channel = ChannelFactory.create(workspace=workspace, platform="whatsapp", handle="+49 30 901820")
    assert found(support, "ill.example/hoo") == {"endpoints": ["https://till.example/hooks/orders"]}
    assert found(support, "4930 9018") == {"channels": ["WhatsApp +49 30 901820"]}
    assert found(support, channel.external_id)["channels"] == ["WhatsApp +49 30 901820"]
    assert f"{workspace.name} · {agency} · Active" in text(support.get(FIND, {"q": "4930 9018"}))


def test_a_sub_account_s_key_is_found_by_its_prefix_along_an_index(support: Client, workspace: Workspace) -> None:
    _, key = issue_workspace_key(workspace=workspace, name="Shop", by=SYSTEM)
    issue_workspace_key(workspace=workspace, name="Other", by=SYSTEM)
    with CaptureQueriesContext(connection) as captured:
        assert found(support, key) == {"workspace-keys": [f"Shop ({key[:12]}…)"]}
    [sought] = [one["sql"] for one in captured if 'FROM "subaccounts_workspacekey"' in one["sql"]]
    assert key not in support.get(FIND, {"q": key[:12]}).content.decode()
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {sought}")
        assert "Index Scan using workspace_key_by_prefix" in "\n".join(row[0] for row in cursor.fetchall())


def test_envelopes_and_deliveries_are_found_by_their_ids(support: Client, agency: Agency, workspace: Workspace) -> None:
    EndpointFactory.create(agency=agency, events=["workspace.created"])
    event = Event.objects.earliest("pk")
    Event.objects.update(fanned_out_at=None)
    make_deliveries(connection.connection)
    first = Delivery.objects.get(event=event)
    again = redeliver(delivery=first, now=timezone.now(), by=SYSTEM)
    by_envelope = {"events": [event.name], "deliveries": [event.name, event.name]}
    assert found(support, str(event.uuid)) == by_envelope
    assert found(support, str(again.uuid)) == {"deliveries": [event.name]}
    assert str(first.endpoint) in text(support.get(FIND, {"q": str(event.uuid)}))


def test_what_names_nothing_finds_nothing_in_a_few_statements(support: Client, workspace: Workspace) -> None:
    for query in ("", "Q", "%%%", "zzzz", "\x00\x01", "999999999999999999999", str(uuid.uuid4())):
        assert found(support, query) == {}
    assert "No matches." in text(support.get(FIND, {"q": "zzzz"}))
    for query in ("quayside", str(workspace.uuid)):
        with CaptureQueriesContext(connection) as captured:
            found(support, query)
        assert len(captured) <= 16, query


def test_everybody_finds_what_they_may_see_in_its_list(
    person: Callable[..., User], sign_in: Callable[[User], Client], agency: Agency, workspace: Workspace
) -> None:
    colleague = person(is_staff=True)
    colleague.user_permissions.set(Permission.objects.filter(codename="view_agency"))
    browser = sign_in(colleague)
    assert found(browser, agency.name) == {"agencies": [agency.name]}
    assert found(browser, "quayside") == found(browser, str(workspace.uuid)) == {}
