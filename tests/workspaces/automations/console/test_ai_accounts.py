"""Staff add, test, change and remove accounts at A.I. providers. Nobody sees a key again."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from agency.models import ActivityEntry
from config.db import database_now
from config.encryption import columns_of, reencrypt
from tests.agency.console.browsers import at_the_console, text
from tests.config.http.receivers import LOOPBACK
from tests.tenants import Tenant
from tools.sandbox import RunningSandbox, open_sandbox
from workspaces.automations.models import AgencyAiUsage, AiAccount
from workspaces.automations.services.ai_budgets import month_of

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


def test_the_budget_of_all_accounts_is_set_and_shown_with_what_is_used(
    a: Tenant, staff: Client, sandbox: RunningSandbox
) -> None:
    staff.post(page("ai-account-new"), filled(sandbox))
    assert "Used this month 0.00" in text(staff.get(page("ai-accounts")))
    assert "The budget was saved." in text(staff.post(page("ai-budget"), {"monthly_budget": "2.50"}, follow=True))
    AgencyAiUsage.objects.create(agency=a.agency, month=month_of(database_now()), cost=2_100_000)
    shown = staff.get(page("ai-accounts"))
    assert "2.10 of 2.50" in text(shown)
    assert 'class="badge warning"' in shown.content.decode()
    assert staff.post(page("ai-budget"), {"monthly_budget": "-1"}).status_code == 422
    assert "No limit" in text(staff.post(page("ai-budget"), {"monthly_budget": ""}, follow=True))
    entries = ActivityEntry.objects.filter(agency_id=a.agency.pk, action="ai_budget.changed").order_by("pk")
    assert [one.changes for one in entries] == [{"monthly_budget": [None, "2.50"]}, {"monthly_budget": ["2.50", None]}]
