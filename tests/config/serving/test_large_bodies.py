"""A large body is read for a known path and from somebody who may send it; else the answer comes before it."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.test import Client

from config.request_bodies import MIB, BodyRule
from config.serving.bodies import MOST_KNOWN, MOST_OF_STRANGERS, LargeBodies, TooManyBodies
from tests.config.serving.web import Reply, Web, head, read, running_web
from tests.factories import a_workspace_key
from tests.processes import own_processes
from tests.tenants import Tenant
from tests.waiting import until
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.contacts.models import ContactImport

pytestmark = pytest.mark.django_db(transaction=True)
BOUNDARY = "frontier"
MULTIPART = f"Content-Type: multipart/form-data; boundary={BOUNDARY}"
CSRF = "c" * 32
BEGINNING = b"x" * (512 * 1024)
UPLOAD = "/app/contacts/imports/new"


@pytest.fixture(scope="module")
def product(django_db_setup: None) -> Iterator[Web]:
    with running_web("config.asgi:application", {**own_processes.variables(), "SSL_REDIRECT": "off"}) as running:
        yield running


@pytest.fixture
def web(product: Web) -> Iterator[Web]:
    yield product
    product.close_connections()
    until(lambda: files_on_disk(product) == 0, what="the end of all bodies")


def files_on_disk(web: Web) -> int:
    """Count the temporary files that the server's workers have open: they have no name."""
    main = Path(f"/proc/{web.process.pid}")
    children = {pid for task in (main / "task").iterdir() for pid in (task / "children").read_text().split()}
    return sum(_is_temporary(link) for pid in children for link in Path(f"/proc/{pid}/fd").iterdir())


def _is_temporary(link: Path) -> bool:
    try:
        target = str(link.readlink())
    except FileNotFoundError:
        return False
    return target.endswith("(deleted)") and not target.startswith(("/memfd", "/dev"))


def begin(web: Web, path: str, *lines: str, size: int = 16 * MIB) -> Any:
    """Send the head of a large body and its beginning."""
    wanted = head("POST", path, f"Content-Length: {size}", "Connection: close", *(lines or (MULTIPART,)))
    return web.send(wanted + BEGINNING)


def first_line(connection: Any) -> bytes:
    return bytes(connection.recv(65536)).partition(b"\r\n")[0]


def cookies_of(browser: Client) -> str:
    session = browser.cookies[settings.SESSION_COOKIE_NAME].value
    return f"Cookie: {settings.SESSION_COOKIE_NAME}={session}; {settings.CSRF_COOKIE_NAME}={CSRF}"


def form(content: bytes) -> bytes:
    token = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="csrfmiddlewaretoken"\r\n\r\n{CSRF}\r\n'
    file = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
    return token.encode() + file.encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()


def upload(web: Web, browser: Client, content: bytes) -> Reply:
    body = form(content)
    lines = (f"Content-Length: {len(body)}", "Connection: close", MULTIPART, cookies_of(browser))
    return read(web.send(head("POST", UPLOAD, *lines) + body))


STRANGERS = {
    "no conversation": ("/app/inbox/x", 302),
    "an unknown path": ("/app/inbox/x/y/z", 404),
    "an unknown path elsewhere": ("/nothing/here", 413),
    "a conversation": (f"/app/inbox/{uuid4()}/send", 302),
    "an import": (UPLOAD, 302),
    "a picture": ("/console/configuration/brand/logo", 302),
    "a page without a form": ("/app/contacts/export", 413),
}


@pytest.mark.parametrize("name", STRANGERS)
def test_a_stranger_s_large_body_is_refused_before_it_is_read(web: Web, name: str) -> None:
    path, status = STRANGERS[name]
    connections = [begin(web, path) for _ in range(10)]
    answers = {first_line(connection).split(b" ")[1] for connection in connections}
    assert answers == {str(status).encode()}
    assert files_on_disk(web) == 0


def test_forty_connections_of_strangers_hold_nothing_on_the_disk(web: Web) -> None:
    connections = [begin(web, "/app/inbox/x") for _ in range(40)]
    assert all(b" 302 " in first_line(connection) for connection in connections)
    assert files_on_disk(web) == 0


def test_a_large_form_of_a_signed_out_person_leads_to_sign_in_and_back(web: Web) -> None:
    reply = web.talk(head("POST", f"/app/inbox/{uuid4()}/send", "Content-Length: 9000000", MULTIPART))
    assert reply.status == 302
    assert b"location: /account/sign-in?next=/app/inbox" in reply.head
    assert b"&signed_out=not-kept\r\n" in reply.head
    assert reply.is_closed


def test_a_large_file_of_somebody_who_has_signed_in_is_read(web: Web, a: Tenant) -> None:
    content = b"name,phone\n" + b"Ada,+4930123456\n" * 100_000
    reply = upload(web, dashboard_client(a.workspace), content)
    assert reply.status == 302
    made = ContactImport.objects.get()
    assert (made.rows_total, f"/app/contacts/imports/{made.uuid}".encode() in reply.head) == (100_000, True)


def test_a_session_has_so_many_large_bodies_under_way_and_not_one_more(web: Web, a: Tenant) -> None:
    browser = dashboard_client(a.workspace)
    lines = (MULTIPART, cookies_of(browser))
    most = MOST_KNOWN[0]
    begun = [begin(web, UPLOAD, *lines) for _ in range(most)]
    until(lambda: files_on_disk(web) == most, what="the bodies on the disk")
    assert b" 503 " in first_line(begin(web, UPLOAD, *lines))
    assert files_on_disk(web) == most
    for connection in begun:
        connection.close()
    until(lambda: files_on_disk(web) == 0, what="the end of the bodies")
    assert upload(web, browser, b"phone\n+4930123456\n" * 20_000).status == 302


def test_a_stranger_s_key_does_not_have_a_large_body_read(web: Web, a: Tenant) -> None:
    made_up = a_workspace_key(a.workspace)[1]
    made_up = made_up[:-1] + ("0" if made_up[-1] != "0" else "1")
    for path in ("/api/v1/media", "/api/v1/contacts/import"):
        size = 16 * MIB if path.endswith("media") else MIB
        connection = begin(web, path, f"x-api-key: {made_up}", MULTIPART, size=size)
        assert b" 401 " in first_line(connection)
    assert files_on_disk(web) == 0


def test_a_large_body_of_a_known_key_is_read(web: Web, a: Tenant) -> None:
    body = b'{"contacts": [' + b",".join(b'{"phone": "+49301%06d"}' % number for number in range(999))
    body += b'], "unknown": "' + b"x" * 500_000 + b'"}'
    key = a_workspace_key(a.workspace)[1]
    lines = (f"x-api-key: {key}", "Content-Type: application/json", f"Content-Length: {len(body)}", "Connection: close")
    reply = web.talk(head("POST", "/api/v1/contacts/import", *lines) + body)
    assert (reply.status, reply.json["data"]["created"]) == (200, 999)


@pytest.mark.parametrize(("signed_in", "limits"), [(True, MOST_KNOWN), (False, MOST_OF_STRANGERS)])
def test_an_address_and_a_process_have_so_many_of_them(signed_in: bool, limits: tuple[int, int, int]) -> None:
    """Whatever cookies it sends; one that has ended makes room, and those of strangers take none from the others."""
    rule, other, bodies = BodyRule("/x", signed_in=signed_in), BodyRule("/y", signed_in=not signed_in), LargeBodies()
    _, of_address, of_process = limits
    with ExitStack() as under_way:
        for number in range(of_process):
            address = f"192.0.2.{number // of_address}"
            under_way.enter_context(bodies.one_more(rule, sent(address, number)))
            if number % of_address == of_address - 1:
                assert not has_room(bodies, rule, sent(address, number + 1))
        assert not has_room(bodies, rule, sent("198.51.100.1", 0))
        assert has_room(bodies, other, sent("198.51.100.1", 0))
    assert has_room(bodies, rule, sent("192.0.2.0", 0))
    assert not bodies._under_way


def sent(address: str, session: int) -> dict[str, str]:
    return {"REMOTE_ADDR": address, "HTTP_COOKIE": f"a=1; {settings.SESSION_COOKIE_NAME}={session}"}


def has_room(bodies: LargeBodies, rule: BodyRule, environ: dict[str, str]) -> bool:
    try:
        with bodies.one_more(rule, environ):
            return True
    except TooManyBodies:
        return False
