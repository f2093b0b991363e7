"""Files over the real web server: so many at a time and no more, and none of them in its memory."""

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import own_processes
from tests.config.serving.web import Reply, Web, head, read, running_web
from tests.tenants import Tenant
from tests.webhooks.delivering import until
from workspaces.media.api.workspace.uploads import UPLOAD_BODY
from workspaces.media.models import Media

pytestmark = pytest.mark.django_db(transaction=True)
MIB = 1024 * 1024
BEGINNING = b'--border\r\nContent-Disposition: form-data; name="file"; filename="plan.pdf"\r\n\r\n%PDF-1.7\n'
END = b"\r\n--border--\r\n"
LARGE = 64 * MIB
# What a process may need more for a file of any size: the pieces that are on their way, and no whole file.
MOST_MORE = 24 * MIB


@pytest.fixture
def web(a: Tenant, tmp_path: Path) -> Iterator[Web]:
    with running_web("config.asgi:application", {**own_processes.variables(), "MEDIA_DIRECTORY": str(tmp_path)}) as web:
        yield web


def upload_head(a: Tenant, length: int) -> bytes:
    kind = "Content-Type: multipart/form-data; boundary=border"
    key = f"x-api-key: {a.workspace_api.key}"
    return head("POST", "/api/v1/media", key, kind, f"Content-Length: {length}", "Connection: close")


def upload(web: Web, a: Tenant, size: int) -> Reply:
    """Send a document of this size, piece by piece."""
    connection = web.send(upload_head(a, len(BEGINNING) + size + len(END)) + BEGINNING)
    with contextlib.suppress(ConnectionError):
        for _ in range(size // MIB):
            connection.sendall(bytes(MIB))
        connection.sendall(bytes(size % MIB) + END)
    return read(connection)


def workers_of(web: Web) -> list[int]:
    children = Path(f"/proc/{web.process.pid}/task/{web.process.pid}/children").read_text().split()
    return [int(child) for child in children]


def memory(web: Web, field: str) -> int:
    """The bytes that the server's processes have, or (`VmHWM`) had at most."""
    found = 0
    for process in workers_of(web):
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
        found += next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))
    return found


def test_a_seventeenth_upload_at_once_waits_for_its_turn(web: Web, a: Tenant) -> None:
    most = UPLOAD_BODY.most_at_once
    assert most == 16
    waiting: list[socket.socket] = [web.send(upload_head(a, 5_000) + BEGINNING) for _ in range(most)]

    def refused() -> Reply | None:
        reply = upload(web, a, 10)
        return reply if reply.status == 503 else None

    reply: Any = until(refused)
    assert b"retry-after: " in reply.head
    assert reply.json == {"message": "The service is not available at the moment. Please try again."}
    assert web.get("/api/v1/workspace", f"x-api-key: {a.workspace_api.key}").status == 200
    waiting.pop().close()
    until(lambda: upload(web, a, 10).status == 201)


def test_a_large_document_is_never_in_memory(web: Web, a: Tenant) -> None:
    assert upload(web, a, MIB).status == 201
    for process in workers_of(web):
        Path(f"/proc/{process}/clear_refs").write_text("5")  # the peak is counted from here on
    before = memory(web, "VmRSS")
    reply = upload(web, a, LARGE)
    assert reply.status == 201
    assert reply.json["data"]["size"] == LARGE + len(b"%PDF-1.7\n")
    assert memory(web, "VmHWM") - before < MOST_MORE
    assert Media.objects.filter(size__gt=LARGE).count() == 1
