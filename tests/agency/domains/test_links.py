"""What is made for a sub-account begins with its agency's primary host, whoever made it and whenever."""

from typing import Any

import pytest
from django.test import Client

from agency.services.hosts import base_urls_of
from broadcasts.content import FrozenMessage
from broadcasts.models import Recipient
from broadcasts.sending.messages import SendingBroadcast, message_of
from broadcasts.services.tracked_links import with_tracked_links
from channelconnect.sending.conversations import files_of
from tests import furnished
from tests.factories import DomainFactory
from tests.tenants import Multipart, Tenant
from tests.workspaces.media.files import PDF
from workspaces.media.models import Media

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db

OWN = "app.ada.localhost"


def test_a_file_is_at_the_agency_s_host_in_as_many_statements(a: Tenant, django_assert_num_queries: Any) -> None:
    made = a.workspace_api.post("/media", Multipart.of(PDF, "bill.pdf")).json()["data"]
    assert made["url"].startswith("http://testserver/media/")
    DomainFactory.create(agency=a.agency, host=OWN)
    assert files_of([Media.objects.get().pk])[Media.objects.get().pk].link.startswith(f"http://{OWN}/media/")
    with django_assert_num_queries(4):  # the switch, the key, the page, the count
        [listed] = a.workspace_api.get("/media").json()["data"]
    assert listed["url"] == made["url"].replace("testserver", OWN)
    read = Client().get(listed["url"].removeprefix(f"http://{OWN}"), headers={"host": OWN})
    assert b"".join(read) == PDF


def test_a_tracked_link_is_at_the_agency_s_host(a: Tenant) -> None:
    frozen = FrozenMessage(text="See {{link.0}}", links=["https://shop.example/"])
    broadcast = SendingBroadcast(7, 1, a.agency.pk, a.workspace.pk, "whatsapp", frozen)

    def text() -> str:
        kind = Recipient.AddressKind.PHONE
        return message_of(broadcast, contact=9, kind=kind, address="+4930", values=None).text

    assert text().startswith("See http://testserver/l/")
    DomainFactory.create(agency=a.agency, host=OWN)
    assert text().startswith(f"See http://{OWN}/l/")


def test_a_button_is_ours_whichever_of_our_hosts_was_approved(a: Tenant, b: Tenant) -> None:
    DomainFactory.create(agency=a.agency, host="old.localhost")
    DomainFactory.create(agency=a.agency, host=OWN)
    DomainFactory.create(agency=b.agency, host="app.bob.localhost")
    parameters = [{"type": "text", "text": "https://shop.example/"}]
    template = {"components": [{"type": "button", "sub_type": "url", "index": "0", "parameters": parameters}]}

    def tracked(host: str) -> bool:
        approved = [{"type": "BUTTONS", "buttons": [{"type": "URL", "url": f"http://{host}/l/{{{{1}}}}"}]}]
        return bool(with_tracked_links("", template, approved=approved, base_urls=base_urls_of(a.agency.pk))[2])

    assert {host: tracked(host) for host in ("testserver", "old.localhost", OWN, "app.bob.localhost")} == {
        "testserver": True,
        "old.localhost": True,
        OWN: True,
        "app.bob.localhost": False,
    }
