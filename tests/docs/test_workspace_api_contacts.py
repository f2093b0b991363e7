"""What docs/workspace-api/contacts.md shows is taken and answered as it says."""

import json
import re
from pathlib import Path

import pytest

from tests import furnished
from tests.factories import ContactFactory
from tests.tenants import Tenant

a = furnished.a_with_customer

PAGE = (Path(__file__).parents[2] / "docs" / "workspace-api" / "contacts.md").read_text()
SHOWN = re.compile(r"```json\nPOST (\S+)\n(.*?)```", re.DOTALL)


@pytest.mark.django_db
@pytest.mark.parametrize(("path", "body"), SHOWN.findall(PAGE), ids=[path for path, _ in SHOWN.findall(PAGE)])
def test_each_call_that_the_page_shows_is_taken(a: Tenant, path: str, body: str) -> None:
    if "{contact}" in path:
        path = path.replace("{contact}", str(a.contact.uuid))
        body = body.replace("{other}", str(ContactFactory.create(workspace=a.workspace).uuid))
    sent = json.loads(body)
    answer = a.workspace_api.post(path, sent)
    assert answer.status_code in (200, 201), answer.json()
    assert not answer.json()["data"].get("errors")
