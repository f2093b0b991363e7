"""The product's own reference pages: whole, light, and with samples that work."""

import html
import os
import re
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pytest_django.live_server_helper import LiveServer

from config.api.documents.building import WORKSPACE
from tests.tenants import Api, Tenant
from workspaces.subaccounts.models import Workspace

HEAVIEST = 300_000
PAGES = {"agency": "/api/agency/v1", "workspace": "/api/v1"}
APART = [f"workspace/{slug}" for slug in WORKSPACE.apart]
each_document = pytest.mark.parametrize(("name", "surface"), PAGES.items())
each_page = pytest.mark.parametrize("name", [*PAGES, *APART])
pytestmark = pytest.mark.django_db  # closing a served file looks after the database connections


def page_of(anonymous: Api, name: str) -> str:
    return str(anonymous.get(f"/api/docs/{name}").content.decode())


@each_document
def test_every_operation_is_there_with_a_sample_in_each_language(anonymous: Api, name: str, surface: str) -> None:
    page, document = page_of(anonymous, name), anonymous.get(f"{surface}/openapi.json").json()
    page += "".join(page_of(anonymous, part) for part in APART if part.startswith(f"{name}/"))
    operations = [operation for methods in document["paths"].values() for operation in methods.values()]
    for operation in operations:
        assert f'<article class="operation" id="{operation["operationId"]}"' in page
    for language in ("curl", "python", "node"):
        assert page.count(f'<pre class="{language}">') == len(operations)
    for sample in re.findall(r'<pre class="python">(.*?)</pre>', page, re.DOTALL):
        compile(html.unescape(sample), "sample.py", "exec")


def test_broadcasts_have_a_page_of_their_own(anonymous: Api) -> None:
    others, broadcasts = page_of(anonymous, "workspace"), page_of(anonymous, "workspace/broadcasts")
    assert ('id="createBroadcast"' in others, 'id="createBroadcast"' in broadcasts) == (False, True)
    assert ('id="createContact"' in others, 'id="createContact"' in broadcasts) == (True, False)
    assert 'href="/api/docs/workspace/broadcasts"' in others
    assert 'href="/api/docs/workspace"' in broadcasts


def test_many_events_have_a_page_of_their_own(anonymous: Api) -> None:
    document = anonymous.get("/api/v1/openapi.json").json()
    operations, events = page_of(anonymous, "workspace"), page_of(anonymous, "workspace/events")
    assert len(document["webhooks"]) > 40
    for name, methods in document["webhooks"].items():
        assert f'id="{methods["post"]["operationId"]}"' in events, name
        assert f'id="{methods["post"]["operationId"]}"' not in operations, name
    assert 'href="/api/docs/workspace/events"' in operations
    assert 'href="/api/docs/workspace"' in events


@each_page
def test_every_link_within_the_page_leads_somewhere_and_no_id_is_there_twice(anonymous: Api, name: str) -> None:
    page = page_of(anonymous, name)
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)


@each_page
def test_a_page_weighs_less_than_300_kb_with_everything_that_it_loads(anonymous: Api, name: str) -> None:
    page = page_of(anonymous, name)
    loaded = 0
    for address in re.findall(r'(?:src|href)="(/static/[^"]+)"', page):
        with closing(anonymous.get(address)) as file:
            loaded += len(b"".join(file))
    assert len(page.encode()) + loaded < HEAVIEST


def sample_of(page: str, operation: str, language: str) -> str:
    article = page[page.index(f'id="{operation}"') :]
    found = re.search(rf'<pre class="{language}">(.*?)</pre>', article, re.DOTALL)
    assert found
    return html.unescape(found[1])


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("language", ["curl", "python", "node"])
def test_the_samples_work_as_they_stand(
    live_server: LiveServer, anonymous: Api, settings: Any, a: Tenant, language: str, tmp_path: Path
) -> None:
    command = {"curl": ["bash", "-e"], "python": [sys.executable], "node": ["node", "--input-type=module"]}[language]
    if shutil.which("curl" if language == "curl" else command[0]) is None:
        pytest.skip(f"{language} is not installed")
    script = sample_of(page_of(anonymous, "agency"), "createSubAccount", language)
    script = script.replace(settings.PUBLIC_URL, live_server.url)
    ran = subprocess.run(
        command, input=script, env={**os.environ, "API_KEY": a.plaintext}, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    assert str(Workspace.objects.get().uuid) in ran.stdout
