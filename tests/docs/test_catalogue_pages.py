"""The samples of pages about parts of the workspace API are run one after another, and answer as shown."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from pytest_django.live_server_helper import LiveServer

from tests.docs.shell import Shell, blocks_of
from tests.tenants import WORKSPACE_BASE, Tenant

DOCS = Path(__file__).parents[2] / "docs"
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
MOMENT = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z")


class Ids(dict[str, str]):
    """The page's ids and what they are here: learned from the answers in which they stand first."""

    def same(self, shown: Any, answered: Any) -> bool:
        """Whether an answer is the one shown, but for ids, recent times and hosts."""
        if isinstance(shown, dict) and isinstance(answered, dict):
            return list(shown) == list(answered) and all(self.same(shown[name], answered[name]) for name in shown)
        if isinstance(shown, list) and isinstance(answered, list):
            return len(shown) == len(answered) and all(map(self.same, shown, answered))
        if isinstance(shown, str) and isinstance(answered, str):
            return self._same_text(shown, answered)
        return bool(shown == answered) and type(shown) is type(answered)

    def _same_text(self, shown: str, answered: str) -> bool:
        if UUID.fullmatch(shown):
            return self.setdefault(shown, answered) == answered
        if MOMENT.fullmatch(shown) and MOMENT.fullmatch(answered):
            return shown.startswith("2026-11-20") or shown == answered
        return shown.partition("…")[2] in answered if "…" in shown else shown == answered


@pytest.mark.skipif(shutil.which("curl") is None, reason="the samples are commands for curl")
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("counters_forgotten", "one_thread_answers")
@pytest.mark.parametrize(
    "page", ["workspace-api/products", "workspace-api/classes", "appointments", "invoices", "payments"]
)
def test_the_samples_of_a_page_do_what_it_says(a: Tenant, live_server: LiveServer, page: str, tmp_path: Path) -> None:
    ids, shell = Ids(), Shell(tmp_path)
    variables = {"BASE": f"{live_server.url}{WORKSPACE_BASE}", "KEY": a.workspace_plaintext}
    shell.run([*blocks_of(DOCS / "workspace-api.md"), *blocks_of(DOCS / f"{page}.md")], variables)
    compared = [(answers[-1], block.shown) for block, answers in shell.done if block.shown]
    assert len(compared) >= 5
    for answered, shown in compared:
        assert ids.same(shown, answered.body), answered
