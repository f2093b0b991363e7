"""An agency with a host at which anybody may sign up."""

import pytest
from django.test import Client

from agency.account.sign_in import SIGN_UPS_OF_ACCOUNT, account_digest
from tests.tenants import Tenant
from tests.workspaces.subaccounts.sign_up.steps import EMAIL, a_visitor, open_sign_up


@pytest.fixture(autouse=True)
def _not_asked_before() -> None:
    """Let each test begin with an address for which nobody has asked for e-mails."""
    SIGN_UPS_OF_ACCOUNT.reset(account_digest(EMAIL))


@pytest.fixture
def host(a: Tenant) -> str:
    return open_sign_up(a.agency)


@pytest.fixture
def visitor(host: str) -> Client:
    return a_visitor(host)
