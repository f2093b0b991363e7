"""The wire: bounded in time and size whatever the other side does, and nothing of the environment heeded."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import pytest
import trustme

from channelconnect.providers.grants import Account
from channelconnect.providers.graph import ProviderFault
from channelconnect.providers.platforms import provider_for
from channelconnect.providers.settings import ProviderSettings
from channelconnect.providers.transport import CallTimeouts, NoReply, Request, Transport
from tests.channelconnect.providers.customers import REDIRECT_URI, SHORT, Customer, fault, fault_of
from tests.waiting import in_time, until
from tools.sandbox import SandboxConfig
from tools.sandbox.server import SandboxServer

# What nothing here waits for to its end.
LONG_SECONDS = 120.0


@pytest.mark.parametrize("kind", ["hang", "drip", "drip_head", "accept_then_hang"])
@pytest.mark.parametrize("call", ["exchange", "me_accounts"])
def test_no_silence_and_no_dripping_outlasts_the_deadline(hurried: Customer, kind: str, call: str) -> None:
    """The sandbox would go on for longer than the test may last: it is left, or this fails."""
    caught = fault_of(lambda: in_time(lambda: hurried.connect("facebook", **fault(call, kind, seconds=LONG_SECONDS))))
    assert caught.code == "provider_unavailable"
    assert caught.log["reason"] in {"timeout", "deadline"}


def test_a_connection_that_served_before_is_bounded_too(customer: Customer) -> None:
    """However long a silence may last: the whole call is what is bounded."""
    limits = CallTimeouts(connect=LONG_SECONDS, read=LONG_SECONDS, whole=0.4, operation=LONG_SECONDS, pause=0.001)
    hurried, grant = replace(customer, limits=limits), customer.grant("facebook")

    def accounts() -> list[Account]:
        return hurried.provider("facebook").accounts(grant)

    def has_served() -> bool:
        with suppress(ProviderFault):  # where this machine was slower than the limit
            return bool(accounts())
        return False

    until(has_served, what="a connection that served")
    customer.sandbox.play(**fault("me_accounts", "drip", seconds=LONG_SECONDS))
    assert fault_of(lambda: in_time(accounts)).log["reason"] == "deadline"


def test_all_calls_of_an_operation_share_one_budget(customer: Customer) -> None:
    """What a single call may take is more than the test may."""
    limits = CallTimeouts(connect=LONG_SECONDS, read=LONG_SECONDS, whole=LONG_SECONDS, operation=0.5, pause=0.001)
    hurried, grant = replace(customer, limits=limits), customer.grant("facebook")
    customer.sandbox.play(**fault("me_accounts", "hang", seconds=LONG_SECONDS))
    caught = fault_of(lambda: in_time(lambda: hurried.provider("facebook").accounts(grant)))
    assert (caught.code, caught.log["reason"]) == ("provider_unavailable", "deadline")


@pytest.fixture
def nobody_listens() -> Iterator[str]:
    """An address that is kept from everybody else, and at which nobody listens."""
    with socket.socket() as kept:
        kept.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{kept.getsockname()[1]}"


def test_a_refused_connection_is_an_unavailable_provider(nobody_listens: str) -> None:
    settings = ProviderSettings(
        graph_url=nobody_listens, dialog_url="", version="v26.0", app_id="1", app_secret="2", whatsapp_config_id="3"
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
    with pytest.raises(NoReply, match="timeout"):
        in_time(lambda: Transport(SHORT).send(Request(method="GET", url=deaf_server), seconds=LONG_SECONDS))


def test_a_handshake_that_never_ends_is_left_in_time(deaf_server: str) -> None:
    limits = CallTimeouts(connect=LONG_SECONDS, read=LONG_SECONDS)
    with pytest.raises(NoReply, match="deadline"):
        in_time(
            lambda: Transport(limits).send(
                Request(method="GET", url=deaf_server.replace("http:", "https:")), seconds=0.3
            )
        )


def test_the_environment_s_proxy_and_passwords_are_not_heeded(
    customer: Customer, monkeypatch: pytest.MonkeyPatch, nobody_listens: str
) -> None:
    code = customer.code("facebook")
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, nobody_listens)
    assert customer.provider("facebook").authorize(code=code, redirect_uri=REDIRECT_URI).scopes


def test_a_redirect_is_not_followed(customer: Customer) -> None:
    fault_of(lambda: customer.accounts("facebook", **fault("permissions", "redirect")))
    assert not customer.calls("me_accounts")


def test_calls_share_a_connection(customer: Customer) -> None:
    transport = Transport(CallTimeouts())
    request = Request(method="GET", url=f"{customer.sandbox.url}/__control/scenario")
    for _ in range(3):
        assert transport.send(request, seconds=LONG_SECONDS).status == 200
    pools = transport._session.get_adapter(request.url).poolmanager.pools  # type: ignore[attr-defined]  # urllib3's own
    pool = pools[next(iter(pools.keys()))]
    assert (pool.num_connections, pool.num_requests) == (1, 3)


def test_connections_that_were_idle_for_long_are_left(customer: Customer, monkeypatch: pytest.MonkeyPatch) -> None:
    transport = Transport(CallTimeouts())
    request = Request(method="GET", url=f"{customer.sandbox.url}/__control/scenario")
    for idle in (30.0, 0.0):
        monkeypatch.setattr("channelconnect.providers.transport.LONGEST_IDLE", idle)
        assert transport.send(request, seconds=LONG_SECONDS).status == 200
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
    transport = Transport(CallTimeouts(connect=LONG_SECONDS, read=LONG_SECONDS))
    ask = Request(method="GET", url=f"{url}/__control/scenario")
    with pytest.raises(NoReply, match="connection"):
        transport.send(ask, seconds=LONG_SECONDS)
    transport._session.verify = authority
    for _ in range(2):
        assert transport.send(ask, seconds=LONG_SECONDS).status == 200
    play = {"faults": [{"call": "debug_token", "fault": "drip", "seconds": LONG_SECONDS}]}
    transport.send(Request(method="POST", url=f"{url}/__control/scenario", json=play), seconds=LONG_SECONDS)
    with pytest.raises(NoReply, match="deadline"):
        in_time(lambda: transport.send(Request(method="GET", url=f"{url}/v26.0/debug_token"), seconds=0.3))
