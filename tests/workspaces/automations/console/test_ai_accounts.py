"""Staff add, test, change and remove accounts at A.I. providers. Nobody sees a key again."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from agency.models import ActivityEntry
from config.encryption import columns_of, reencrypt
from tests.agency.console.browsers import at_the_console, text
from tests.config.http.receivers import LOOPBACK
from tests.tenants import Tenant
from tools.sandbox import RunningSandbox, open_sandbox
from workspaces.automations.models import AiAccount

pytestmark = pytest.mark.django_db
KEY = "sk-3f9c-never-shown"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[RunningSandbox]:
    with open_sandbox() as running:
        yield running


@pytest.fixture
def staff(a: Tenant, settings: Any) -> Client:
    settings.WEBHOOK_ALLOWED_NETWORKS = LOOPBACK
    return at_the_console(a.agency)


def filled(sandbox: RunningSandbox, **changes: str) -> dict[str, str]:
    values = {
        "name": "Main",
        "provider": "openai",
        "base_url": f"{sandbox.url}/ai/openai",
        "model": "small",
        "key": KEY,
        "monthly_budget": "50",
        "input_price": "0.15",
        "output_price": "0.6",
    }
    return {**values, **changes}


def page(name: str, *ids: object) -> str:
    return reverse(f"console:{name}", args=ids)


def test_the_life_of_an_account(a: Tenant, staff: Client, sandbox: RunningSandbox) -> None:
    added = staff.post(page("ai-account-new"), filled(sandbox), follow=True)
    account = AiAccount.objects.get(agency=a.agency)
    assert (account.is_default, account.key) == (True, KEY)
    assert KEY not in text(added)
    assert "The A.I. answered well." in text(staff.post(page("ai-account-test", account.uuid), follow=True))

    edit = page("ai-account-edit", account.uuid)
    assert KEY not in staff.get(edit).content.decode()
    staff.post(edit, filled(sandbox, name="Other", key="", monthly_budget="7"))
    account.refresh_from_db()
    assert (account.name, account.key, account.monthly_budget) == ("Other", KEY, Decimal(7))

    staff.post(edit, filled(sandbox, key="sk-refused"))
    refused = staff.post(page("ai-account-test", account.uuid), follow=True)
    assert "The provider refuses the key." in text(refused)

    [column] = columns_of(AiAccount)
    assert reencrypt(column).unreadable == []
    staff.post(page("ai-account-remove", account.uuid))
    assert not AiAccount.objects.exists()
    entries = ActivityEntry.objects.filter(agency_id=a.agency.pk, action__startswith="ai_account.")
    assert [*entries.order_by("pk").values_list("action", flat=True)] == [
        "ai_account.added",
        "ai_account.changed",
        "ai_account.changed",
        "ai_account.removed",
    ]
    assert KEY not in repr([*entries.values()])


def test_a_key_goes_to_no_other_address(a: Tenant, staff: Client, sandbox: RunningSandbox) -> None:
    staff.post(page("ai-account-new"), filled(sandbox))
    account = AiAccount.objects.get(agency=a.agency)
    moved = filled(sandbox, key="", base_url=f"{sandbox.url}/elsewhere")
    refused = staff.post(page("ai-account-edit", account.uuid), moved)
    assert refused.status_code == 422
    assert "Enter the key again" in text(refused)
    account.refresh_from_db()
    assert account.base_url.endswith("/ai/openai")


@pytest.mark.parametrize("url", ["http://10.0.0.1/v1", "http://93.184.215.14/v1", "https://93.184.215.14/v1?key=1"])
def test_addresses_that_are_refused(a: Tenant, staff: Client, sandbox: RunningSandbox, url: str) -> None:
    assert staff.post(page("ai-account-new"), filled(sandbox, base_url=url)).status_code == 422
    assert not AiAccount.objects.exists()
