"""How people ask for bulk changes and exports in the console, and the worker's run that does them."""

import re
from typing import Any
from urllib.parse import urlencode

from django.test import Client

from agency.models import BulkOperation, Export
from agency.tasks import run_jobs
from tests.agency.console.browsers import hidden

NEW = "/console/bulk-changes/new"
EXPORT = "/console/exports/new"


def choice(action: str, *items: Any, query: str = "") -> str:
    """The address that the list's form leads to; without items all that match are chosen."""
    picked: list[tuple[str, str]] = [("item", str(one.uuid)) for one in items] or [("all", "1")]
    return f"{NEW}?{urlencode([('action', action), ('query', query), *picked])}"


def begin(browser: Client, address: str, **fields: str) -> BulkOperation:
    """Look at what was chosen, confirm it, and give the operation whose page that led to."""
    page = browser.get(address)
    assert page.status_code == 200, page.content
    answer = browser.post(address, {"until": hidden(page, "until"), "nonce": hidden(page, "nonce"), **fields})
    assert answer.status_code == 302, answer.content
    return BulkOperation.objects.get(uuid=answer["Location"].rpartition("/")[2])


def done(operation: BulkOperation) -> BulkOperation:
    """Run what waits, and give the operation as it is then."""
    run_jobs()
    operation.refresh_from_db()
    return operation


def outcome(operation: BulkOperation) -> tuple[str, int, int, int, int]:
    counts = (operation.total, operation.succeeded, operation.unchanged, operation.failed)
    return (operation.state, *counts)


def exported(browser: Client, kind: str, *, query: str = "", file_format: str = "csv") -> str:
    """Ask for an export, let it be written, and download it."""
    address = f"{EXPORT}?{urlencode({'kind': kind, 'query': query})}"
    page = browser.get(address)
    sent = {"kind": kind, "format": file_format, "query": query, "nonce": hidden(page, "nonce")}
    answer = browser.post(address, sent)
    assert answer.status_code == 302, answer.content
    run_jobs()
    shown = browser.get(answer["Location"])
    assert re.search(r'href="([^"]*/file)"', shown.content.decode()), shown.content
    return b"".join(browser.get(f"{answer['Location']}/file").streaming_content).decode()  # type: ignore[attr-defined]  # a file is streamed


def newest_export() -> Export:
    found = Export.objects.order_by("-id").first()
    assert found
    return found
