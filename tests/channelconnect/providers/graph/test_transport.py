"""The wire: bounded in time and size whatever the other side does, and nothing of the environment heeded."""

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
import trustme

from channelconnect.providers import Limits, ProviderSettings, provider_for
from channelconnect.providers.graph.transport import NoReply, Request, Transport
from tests.channelconnect.providers.customers import REDIRECT_URI, SHORT, Customer, fault, fault_of
from tools.sandbox import SandboxConfig
from tools.sandbox.server import SandboxServer

PATIENCE = 5.0


@pytest.mark.parametrize("kind", ["hang", "drip", "drip_head", "accept_then_hang"])
@pytest.mark.parametrize("call", ["exchange", "me_accounts"])
def test_no_silence_and_no_dripping_outlasts_the_deadline(hurried: Customer, kind: str, call: str) -> None:
    started = time.monotonic()
    caught = fault_of(lambda: hurried.connect("facebook", **fault(call, kind, seconds=20)))
    assert caught.code == "provider_unavailable"
    assert caught.log["reason"] in {"timeout", "deadline", "connection"}
    assert time.monotonic() - started < PATIENCE


def test_a_connection_that_served_before_is_bounded_too(sandbox_customer_with_a_kept_connection: Customer) -> None:
    customer = sandbox_customer_with_a_kept_connection
    started = time.monotonic()
    caught = fault_of(lambda: customer.accounts("facebook", **fault("me_accounts", "drip", seconds=20)))
    assert caught.log["reason"] == "deadline"
    assert time.monotonic() - started < PATIENCE


@pytest.fixture
def sandbox_customer_with_a_kept_connection(hurried: Customer) -> Customer:
    hurried.accounts("facebook")
    return hurried


def test_all_calls_of_an_operation_share_one_budget(customer: Customer) -> None:
    hurried = replace(customer, limits=Limits(read=20, whole=20, operation=0.5, pause=0.001))
    started = time.monotonic()
    caught = fault_of(lambda: hurried.accounts("facebook", **fault("me_accounts", "hang", seconds=20)))
    assert caught.code == "provider_unavailable"
    assert time.monotonic() - started < PATIENCE


def nobody_listens() -> str:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_a_refused_connection_is_an_unavailable_provider() -> None:
    settings = ProviderSettings(
        graph_url=nobody_listens(), dialog_url="", version="v26.0", app_id="1", app_secret="2", whatsapp_config_id="3"
    )
    provider = provider_for("whatsapp", settings=settings, limits=SHORT)
    caught = fault_of(lambda: provider.authorize(code="c", redirect_uri="r"))
    assert (caught.code, caught.log["reason"]) == ("provider_unavailable", "connection")


@pytest.fixture
def deaf_server() -> Iterator[str]:
    """Listens, and takes no connection beyond the first in its queue."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_a_server_that_never_speaks_is_left_in_time(deaf_server: str) -> None:
    started = time.monotonic()
    with pytest.raises(NoReply, match="timeout"):
        Transport(SHORT).send(Request(method="GET", url=deaf_server), seconds=2)
    assert time.monotonic() - started < PATIENCE


def test_a_handshake_that_never_ends_is_left_in_time(deaf_server: str) -> None:
    started = time.monotonic()
    with pytest.raises(NoReply, match="deadline"):
        Transport(Limits(connect=10, read=10)).send(
            Request(method="GET", url=deaf_server.replace("http:", "https:")), seconds=0.3
        )
    assert time.monotonic() - started < PATIENCE


def test_the_environment_s_proxy_and_passwords_are_not_heeded(
    customer: Customer, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = customer.code("facebook")
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, nobody_listens())
    assert customer.provider("facebook").authorize(code=code, redirect_uri=REDIRECT_URI).scopes


def test_a_redirect_is_not_followed(customer: Customer) -> None:
    fault_of(lambda: customer.accounts("facebook", **fault("permissions", "redirect")))
    assert not customer.calls("me_accounts")


def test_calls_share_a_connection(customer: Customer) -> None:
    transport = Transport(SHORT)
    request = Request(method="GET", url=f"{customer.sandbox.url}/__control/scenario")
    for _ in range(3):
        assert transport.send(request, seconds=2).status == 200
    pools = transport._session.get_adapter(request.url).poolmanager.pools  # type: ignore[attr-defined]  # urllib3's own
    pool = pools[next(iter(pools.keys()))]
    assert (pool.num_connections, pool.num_requests) == (1, 3)


def test_connections_that_were_idle_for_long_are_left(customer: Customer, monkeypatch: pytest.MonkeyPatch) -> None:
    transport = Transport(SHORT)
    request = Request(method="GET", url=f"{customer.sandbox.url}/__control/scenario")
    for idle in (30.0, 0.0):
        monkeypatch.setattr("channelconnect.providers.graph.transport.LONGEST_IDLE", idle)
        assert transport.send(request, seconds=2).status == 200
    pools = transport._session.get_adapter(request.url).poolmanager.pools  # type: ignore[attr-defined]  # urllib3's own
    assert pools[next(iter(pools.keys()))].num_requests == 1


@pytest.fixture(scope="module")
def secure() -> Iterator[tuple[str, str]]:
    """Give the address of a server that speaks TLS, and the file of the authority that vouches for it."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with SandboxServer(SandboxConfig.read({})) as server, authority.cert_pem.tempfile() as file:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        yield server.url.replace("http:", "https:"), file
        server.state.closing.set()
        server.shutdown()
        thread.join()


def test_over_tls_connections_are_checked_kept_and_bounded(secure: tuple[str, str]) -> None:
    url, authority = secure
    transport = Transport(Limits(connect=2, read=10))
    ask = Request(method="GET", url=f"{url}/__control/scenario")
    with pytest.raises(NoReply, match="connection"):
        transport.send(ask, seconds=5)
    transport._session.verify = authority
    for _ in range(2):
        assert transport.send(ask, seconds=5).status == 200
    play = {"faults": [{"call": "debug_token", "fault": "drip", "seconds": 20}]}
    transport.send(Request(method="POST", url=f"{url}/__control/scenario", json=play), seconds=5)
    with pytest.raises(NoReply, match="deadline"):
        transport.send(Request(method="GET", url=f"{url}/v26.0/debug_token"), seconds=0.3)
