"""What users of other senders miss: nothing is switched off by itself, and a redelivery is signed as of today."""

import hashlib
import hmac

from tests.config.http.receivers import answer
from tests.tenants import Tenant
from tests.webhooks.conftest import StartDispatcher, StartReceiver
from tests.webhooks.delivering import attempted, ended, in_turn, make_due, record_events, status, subscribe


def test_an_endpoint_that_only_fails_stays_on_and_hears_the_next_event(
    a: Tenant, b: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    failing = {410: a, 500: b}
    receivers = {code: start_receiver(answer(status(code))) for code in failing}
    endpoints = {code: subscribe(tenant, receivers[code]) for code, tenant in failing.items()}
    start_dispatcher()
    for tenant in failing.values():
        record_events(tenant)
    for attempts in (1, 2):
        for tenant in failing.values():
            make_due(attempted(tenant, attempts))
    for code, tenant in failing.items():
        [failed] = ended(tenant)
        assert (failed.status, failed.attempts, failed.response_status) == ("error", 3, code)
        kept = tenant.api.get(f"/webhooks/{endpoints[code]['uuid']}").json()["data"]
        assert (kept["enabled"], kept["last_outcome"]) == (True, "error"), code
        record_events(tenant)
        attempted(tenant, 1)
        assert len(receivers[code].requests) == 4, code


def test_a_redelivery_carries_the_same_bytes_under_the_present_secret(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver
) -> None:
    receiver = start_receiver(in_turn([status(410), status(204)]))
    endpoint = subscribe(a, receiver)
    test = a.api.post(f"/webhooks/{endpoint['uuid']}/test").json()["data"]
    start_dispatcher()
    ended(a)
    secret = a.api.post(f"/webhooks/{endpoint['uuid']}/rotate-secret").json()["data"]["secret"]
    assert a.api.post(f"/webhooks/deliveries/{test['id']}/redeliver").status_code == 202
    ended(a, 2)
    first, second = receiver.requests
    assert first.body == second.body
    assert first.headers["x-svc-delivery"] == second.headers["x-svc-delivery"] == test["envelope_id"]
    signatures = [
        "sha256=" + hmac.new(key.encode(), first.body, hashlib.sha256).hexdigest()
        for key in (endpoint["secret"], secret)
    ]
    assert [first.headers["x-svc-signature"], second.headers["x-svc-signature"]] == signatures
