"""The switch of channel connect in the support admin."""

import pytest
from django.test import Client

from agency.models import ActivityEntry, Agency
from channelconnect.models import ConnectSession, ConnectSettings
from channelconnect.services.settings import settings_of
from tests import furnished
from tests.admin.conftest import agency, person, sign_in, superuser, support
from tests.channelconnect.agencies import RETURN_URL, a_session
from tests.tenants import Tenant

a, b = furnished.a_with_customer, furnished.b_with_customer

__all__ = ["agency", "person", "sign_in", "superuser", "support"]
pytestmark = pytest.mark.django_db
LIST = "/admin/channelconnect/connectsettings/"


def page_of(agency: Agency) -> str:
    return f"{LIST}{agency.pk}/change/"


def test_support_switches_the_feature_on_for_an_agency_that_has_set_nothing_yet(
    support: Client, agency: Agency
) -> None:
    assert support.get(f"{LIST}add/").status_code == 200
    posted = {"agency": agency.pk, "enabled": "on", "reason": "Signed the contract"}
    assert support.post(f"{LIST}add/", posted).status_code == 302
    assert settings_of(agency).enabled
    entry = ActivityEntry.objects.get(action="connect.turned_on")
    assert (entry.actor_kind, entry.agency, entry.details) == ("staff", agency, {"reason": "Signed the contract"})
    assert support.post(f"{LIST}add/", posted).status_code == 200
    assert ConnectSettings.objects.count() == 1


def test_off_again_needs_a_reason_and_leaves_the_return_urls(support: Client, connecting: Tenant) -> None:
    agency = connecting.agency
    assert RETURN_URL in support.get(page_of(agency)).content.decode()
    assert support.post(page_of(agency), {"reason": ""}).status_code == 200
    assert settings_of(agency).enabled
    assert support.post(page_of(agency), {"reason": "Unpaid"}).status_code == 302
    assert (settings_of(agency).enabled, settings_of(agency).return_urls) == (False, [RETURN_URL])
    assert ActivityEntry.objects.filter(action="connect.turned_off").count() == 1
    assert b'value="Unpaid"' not in support.get(page_of(agency)).content


def test_an_agency_is_found_by_its_uuid(support: Client, connecting: Tenant, b: Tenant) -> None:
    assert support.get(LIST, {"q": str(connecting.agency.uuid)}).context["cl"].result_count == 1
    for term in (str(b.agency.uuid), "zzz"):
        assert support.get(LIST, {"q": term}).context["cl"].result_count == 0


def test_nobody_deletes_settings_or_sessions(support: Client, connecting: Tenant) -> None:
    session = a_session(connecting)
    assert support.post(f"{LIST}{connecting.agency.pk}/delete/", {"post": "yes"}).status_code == 403
    assert (
        support.post(f"/admin/channelconnect/connectsession/{session.pk}/delete/", {"post": "yes"}).status_code == 403
    )
    assert ConnectSession.objects.exists()
