"""A reseller's integration from the first call to the last effect: provision, sell, suspend, and hear of each."""

import hashlib
import hmac
import json
import queue
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network
from typing import Any

import pytest

from tests.document.recording import watch_envelope
from tests.factories import AddonFactory, PlanFactory, addon_limits, plan_limits
from tests.tenants import Tenant
from webhooks.dispatcher.loop import run_dispatcher


class Receiver:
    """Answers 200 to everything; `received` holds `(headers, body)` in the order of arrival."""

    def __init__(self) -> None:
        received: queue.Queue[tuple[dict[str, str], bytes]] = queue.Queue()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()
                watch_envelope(body)
                received.put((dict(self.headers), body))

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        self.received = received
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/hooks"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def believed(self, count: int, secret: str) -> list[dict[str, Any]]:
        """Wait for so many messages and give their envelopes; each must be signed with the secret."""
        envelopes = []
        for _ in range(count):
            headers, body = self.received.get(timeout=60)
            signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
            assert headers["X-Svc-Signature"] == f"sha256={signature}"
            envelope = json.loads(body)
            assert (headers["X-Svc-Event"], headers["X-Svc-Delivery"]) == (envelope["event"], envelope["id"])
            assert headers["User-Agent"] == "Svc-Agency-Webhooks/1.0"
            envelopes.append(envelope)
        return envelopes


pytestmark = pytest.mark.django_db(transaction=True)
LIFE = [
    "workspace.created",
    "subscription.changed",
    "addon.granted",
    "workspace.suspended",
    "workspace.restored",
    "addon.revoked",
]


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture
def _dispatcher(receiver: Receiver) -> Iterator[None]:
    """A dispatcher at work, as a worker runs it."""
    leave = threading.Event()
    thread = threading.Thread(target=run_dispatcher, kwargs={"should_stop": leave.is_set})
    thread.start()
    yield
    leave.set()
    thread.join()


@pytest.mark.usefixtures("_dispatcher")
def test_a_customer_is_provisioned_sold_to_and_suspended_and_each_step_is_heard(a: Tenant, receiver: Receiver) -> None:
    starter = PlanFactory.create(agency=a.agency, name="Starter", limits=plan_limits(contacts=100))
    growth = PlanFactory.create(agency=a.agency, name="Growth", limits=plan_limits(contacts=1_000))
    extra = AddonFactory.create(agency=a.agency, name="Extra", limits=addon_limits(contacts=50))

    def call(method: str, path: str, body: Any = None) -> Any:
        response = a.api.call(method, path, {} if body is None else body)
        assert response.status_code in (200, 201), response.content
        return response.json()["data"]

    events = [entry["event"] for entry in call("GET", "/webhooks/events")]
    hook = call("POST", "/webhooks", {"url": receiver.url, "events": events})
    assert sorted(events) == sorted(LIFE)

    owner = {"name": "Ada", "email": "ada@example.com"}
    shop = call("POST", "/workspaces", {"name": "Corner Salon", "owner": owner, "plan": str(starter.uuid)})
    path = f"/workspaces/{shop['uuid']}"
    call("PATCH", path, {"name": "Corner Salon and Spa"})
    call("PUT", f"{path}/plan", {"plan": str(growth.uuid)})
    call("POST", f"{path}/addons", {"addon": str(extra.uuid)})
    assert call("GET", path)["limits"]["contacts"] == 1_050
    call("POST", f"{path}/suspend", {"reason": "Invoice overdue"})
    call("POST", f"{path}/restore")
    call("DELETE", f"{path}/addons/{extra.uuid}")
    assert call("GET", path)["limits"]["contacts"] == 1_000

    heard = receiver.believed(len(LIFE), hook["secret"])
    assert sorted(envelope["event"] for envelope in heard) == sorted(LIFE)
    assert {envelope["agency_id"] for envelope in heard} == {a.agency.pk}
    assert sorted(heard, key=lambda envelope: str(envelope["id"])) == sorted(a.events, key=lambda one: str(one["id"]))

    listed = a.api.get("/workspaces?search=spa&status=active").json()
    assert [row["uuid"] for row in listed["data"]] == [shop["uuid"]]


@pytest.mark.usefixtures("_dispatcher")
def test_what_happened_to_another_agency_s_customer_is_not_heard(a: Tenant, b: Tenant, receiver: Receiver) -> None:
    hook = a.api.post("/webhooks", {"url": receiver.url, "events": LIFE}).json()["data"]
    for tenant in (b, a):
        tenant.api.post("/workspaces", {"name": "Shop", "owner": {"name": "O", "email": "o@example.com"}})
    (envelope,) = receiver.believed(1, hook["secret"])
    assert envelope["agency_id"] == a.agency.pk
    assert receiver.received.empty()


@pytest.mark.usefixtures("_dispatcher")
def test_a_creation_repeated_after_a_lost_answer_is_heard_of_once(a: Tenant, receiver: Receiver) -> None:
    hook = a.api.post("/webhooks", {"url": receiver.url, "events": LIFE}).json()["data"]
    body = {"name": "Shop", "owner": {"name": "O", "email": "o@example.com"}}
    answers = [a.api.post("/workspaces", body, idempotency_key="order-7").json() for _ in range(3)]
    (created,) = receiver.believed(1, hook["secret"])
    assert {answer["data"]["uuid"] for answer in answers} == {created["data"]["workspace"]["uuid"]}
    a.api.post(f"/workspaces/{answers[0]['data']['uuid']}/suspend")
    (suspended,) = receiver.believed(1, hook["secret"])
    assert suspended["event"] == "workspace.suspended"
