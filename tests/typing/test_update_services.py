"""Update services name their fields: the type checker refuses a field that is misspelt or that another service changes.

One run of mypy checks every call of both lists; a new update service joins them with a call of each kind.
"""

import re
import subprocess
import sys

import pytest
from django.conf import settings

HEAD = """
from agency.actors import SYSTEM
from agency.models import Plan, User
from agency.services import update_item
from agency.services.people.users import change_user
from packs.models import Pack, PackEntry
from packs.services import change_entry, change_pack
from webhooks.models import Endpoint
from webhooks.services import update_endpoint
from workspaces.automations.services import change_readiness
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import change_workspace

workspace, endpoint, pack, entry, plan, user = Workspace(), Endpoint(), Pack(), PackEntry(), Plan(), User()
"""
ACCEPTED = [
    'change_workspace(workspace=workspace, by=SYSTEM, name="New", business_type=None)',
    "change_workspace(workspace=workspace, by=SYSTEM)",
    'change_workspace(workspace=workspace, by=SYSTEM, external_id=None, metadata={"region": "north"})',
    "change_readiness(workspace=workspace, by=SYSTEM, payment=True, booking_page=False)",
    'update_endpoint(endpoint=endpoint, by=SYSTEM, events=["addon.granted"], enabled=False)',
    'change_pack(pack=pack, by=SYSTEM, summary=None, status="archived")',
    'change_entry(entry=entry, by=SYSTEM, tier="optional", requires=[])',
    'update_item(item=plan, by=SYSTEM, name="Growth")',
    'change_user(user=user, by=SYSTEM, name="Ada")',
]
REFUSED = [
    'change_workspace(workspace=workspace, by=SYSTEM, status="suspended")',
    'change_workspace(workspace=workspace, by=SYSTEM, nmae="New")',
    "change_workspace(workspace=workspace, by=SYSTEM, name=None)",
    'change_workspace(workspace=workspace, by=SYSTEM, metadata={"region": 1})',
    "change_readiness(workspace=workspace, by=SYSTEM, paymnt=True)",
    'change_readiness(workspace=workspace, by=SYSTEM, payment="yes")',
    'update_endpoint(endpoint=endpoint, by=SYSTEM, secret="whsec_")',
    'update_endpoint(endpoint=endpoint, by=SYSTEM, event=["addon.granted"])',
    "change_pack(pack=pack, by=SYSTEM, agency=None)",
    'change_entry(entry=entry, by=SYSTEM, teir="optional")',
    'update_item(item=plan, by=SYSTEM, nmae="Growth")',
    "change_user(user=user, by=SYSTEM, is_stff=True)",
]


@pytest.fixture(scope="module")
def refused_lines() -> set[str]:
    """The calls that mypy finds fault with."""
    program = HEAD + "\n".join(ACCEPTED + REFUSED)
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "-c", program],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1, run.stdout + run.stderr
    lines = program.splitlines()
    return {lines[int(number) - 1] for number in re.findall(r"^<string>:(\d+): error", run.stdout, re.MULTILINE)}


def test_every_call_with_a_wrong_field_is_refused_and_no_other(refused_lines: set[str]) -> None:
    assert refused_lines == set(REFUSED)
