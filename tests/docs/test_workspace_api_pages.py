"""The guide of the workspace API: its front page, media and webhooks run as they are shown."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from pytest_django.live_server_helper import LiveServer

from tests.tenants import Tenant

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = [DOCS / "workspace-api.md", DOCS / "workspace-api/media.md", DOCS / "workspace-api/webhooks.md"]

# What the reader takes from the terminal: `KEY=svc_…`.
PRINTED = re.compile(r"^[A-Z_]+=.*….*\n", re.MULTILINE)


@pytest.mark.django_db(transaction=True)
def test_what_the_guide_shows_runs_as_it_stands(live_server: LiveServer, a: Tenant) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    snippets = [snippet for page in GUIDE for snippet in re.findall(r"```sh\n(.*?)```", page.read_text(), re.DOTALL)]
    assert len(snippets) == 7
    script = PRINTED.sub("", "".join(snippets)).replace('curl "', 'curl -fsS "')
    variables = {**os.environ, "BASE": f"{live_server.url}/api/v1", "KEY": a.workspace_plaintext}
    ran = subprocess.run(["bash", "-e"], input=script, env=variables, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    for shown in (
        '"topic":"product.updated"',
        '"secret":"whsec_',
        '"content_type":"application/pdf"',
        a.workspace.name,
    ):
        assert shown in ran.stdout
