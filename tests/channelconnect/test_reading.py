"""Reading, listing and cancelling channel connections over the API."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry
from channelconnect.models import ConnectSession
from channelconnect.models.sessions import SessionStatus
from channelconnect.services.sessions.ending import end_session, expire_sessions
from channelconnect.tasks import expire_sessions as sweep
from config.encryption import encrypted_value
from tests import furnished
from tests.channelconnect.agencies import a_session, connection_events, many_sessions, path_of, switch_on, wanted
from tests.document.schemas import resolved
from tests.factories import WorkspaceFactory
from tests.parallel import at_once
from tests.tenants import Api, Tenant, message

a, b = furnished.a_with_customer, furnished.b_with_customer

GONE = {"message": "Connection not found."}
EVENT = "channel.connection."


def read(tenant: Tenant, session: ConnectSession) -> dict[str, Any]:
    answer = tenant.api.get(f"{path_of(tenant)}/{session.uuid}")
    assert answer.status_code == 200
    data: dict[str, Any] = answer.json()["data"]
    return data


def cancel(tenant: Tenant, session: ConnectSession) -> dict[str, Any]:
    answer = tenant.api.post(f"{path_of(tenant)}/{session.uuid}/cancel")
    assert answer.status_code == 200
    data: dict[str, Any] = answer.json()["data"]
    return data


def let_time_pass(session: ConnectSession) -> None:
    ConnectSession.objects.filter(pk=session.pk).update(expires_at=now() - timedelta(milliseconds=1))


def connected(tenant: Tenant, session: ConnectSession) -> ConnectSession:
    ConnectSession.objects.filter(pk=session.pk).update(browser_digest=b"x" * 32)
    end_session(session=session, status=SessionStatus.CONNECTED, channel=tenant.channel, now=now(), by=SYSTEM)
    return session


def test_a_status_read_is_the_created_connection_without_its_address(connecting: Tenant) -> None:
    created = connecting.api.post(path_of(connecting), wanted()).json()["data"]
    answer = connecting.api.get(f"{path_of(connecting)}/{created['id']}")
    del created["connect_url"]
    assert answer.json() == {"data": created}


def test_ids_of_others_and_of_nobody_are_404(connecting: Tenant, b: Tenant) -> None:
    switch_on(b)
    foreign = a_session(b)
    sister = WorkspaceFactory.create(agency=connecting.agency)
    own = a_session(connecting)
    for method, end in (("GET", ""), ("POST", "/cancel")):
        for uuid in (foreign.uuid, uuid4(), "x", "%00"):
            answer = connecting.api.call(method, f"{path_of(connecting)}/{uuid}{end}")
            assert (answer.status_code, answer.json()) == (404, GONE)
        answer = connecting.api.call(method, f"/workspaces/{sister.uuid}/channel-connections/{own.uuid}{end}")
        assert (answer.status_code, answer.json()) == (404, GONE)
        answer = connecting.api.call(method, f"{path_of(b)}/{foreign.uuid}{end}")
        assert (answer.status_code, message(answer)) == (404, "Sub-account not found.")
    assert read(b, foreign)["status"] == read(connecting, own)["status"] == "pending"


def test_the_list_is_the_sub_account_s_own_newest_first_and_at_most_100(connecting: Tenant, b: Tenant) -> None:
    switch_on(b)
    a_session(b)
    path = path_of(connecting)
    assert connecting.api.get(path).json() == {"data": []}
    many_sessions(connecting, 102, state="{}")
    newest = a_session(connecting, state="102")
    data = connecting.api.get(f"{path}?page=2&per_page=5&limit=7").json()["data"]
    assert [one["state"] for one in data] == [str(number) for number in range(102, 2, -1)]
    assert data[0] == read(connecting, newest)


def test_the_list_costs_the_same_however_long_it_is(connecting: Tenant, django_assert_max_num_queries: Any) -> None:
    for _ in range(6):
        connected(connecting, a_session(connecting))
    with django_assert_max_num_queries(4):
        connecting.api.get(path_of(connecting))


def test_past_its_time_a_session_reads_as_expired_even_before_the_sweep(connecting: Tenant) -> None:
    session = a_session(connecting)
    let_time_pass(session)
    assert (read(connecting, session)["status"], read(connecting, session)["error_code"]) == (
        "expired",
        "session_expired",
    )
    assert connecting.api.get(path_of(connecting)).json()["data"][0]["status"] == "expired"
    assert connection_events(connecting) == []
    sweep()
    assert read(connecting, session)["status"] == "expired"
    assert connection_events(connecting) == [f"{EVENT}expired"]


def test_the_sweep_ends_what_is_over_once_and_leaves_the_rest(connecting: Tenant) -> None:
    over, open_, ended = (a_session(connecting) for _ in range(3))
    cancel(connecting, ended)
    let_time_pass(over)
    let_time_pass(ended)
    assert expire_sessions(now=now(), by=SYSTEM) == 1
    assert expire_sessions(now=now(), by=SYSTEM) == 0
    assert [read(connecting, one)["status"] for one in (over, open_, ended)] == ["expired", "pending", "cancelled"]
    assert connection_events(connecting) == [f"{EVENT}cancelled", f"{EVENT}expired"]


@pytest.mark.parametrize("status", ["pending", "authorizing", "selecting"])
def test_an_open_session_can_be_cancelled_again_and_again(connecting: Tenant, status: str) -> None:
    session = a_session(connecting, state="s")
    ConnectSession.objects.filter(pk=session.pk).update(
        status=status, browser_digest=b"x" * 32, grant=encrypted_value(session, "grant", "{}")
    )
    first = cancel(connecting, session)
    assert (first["status"], first["error_code"], first["channel_id"]) == ("cancelled", None, None)
    assert cancel(connecting, session) == first == read(connecting, session)
    assert connection_events(connecting) == [f"{EVENT}cancelled"]
    session.refresh_from_db()
    assert (session.grant, session.link, session.state_digest) == (None, None, None)


def test_a_late_cancel_leaves_a_connected_session_and_its_channel(connecting: Tenant) -> None:
    session = connected(connecting, a_session(connecting))
    answer = cancel(connecting, session)
    assert (answer["status"], answer["channel_id"]) == ("connected", str(connecting.channel.uuid))
    connecting.channel.refresh_from_db()
    assert connecting.channel.status == "active"
    assert connection_events(connecting) == [f"{EVENT}completed"]


def test_a_cancel_past_the_time_finds_an_expired_session(connecting: Tenant) -> None:
    session = a_session(connecting)
    let_time_pass(session)
    assert cancel(connecting, session)["status"] == "expired"
    assert connection_events(connecting) == [f"{EVENT}expired"]


def test_an_event_carries_the_connection_as_the_status_read_gives_it(connecting: Tenant) -> None:
    session = a_session(connecting, state="ü&=")
    cancel(connecting, session)
    event = connecting.events[-1]
    assert event["data"] == read(connecting, session)
    assert "connect_url" not in event["data"]
    assert event["event"] == f"{EVENT}cancelled"
    actions = ActivityEntry.objects.filter(agency=connecting.agency, target_id=str(session.uuid)).order_by("id")
    assert list(actions.values_list("action", flat=True)) == ["connect.started", "connect.cancelled"]


@pytest.mark.django_db(transaction=True)
def test_many_cancels_and_sweeps_at_once_end_a_session_once() -> None:
    tenant = switch_on(Tenant())
    session = a_session(tenant)
    let_time_pass(session)
    path, clients = f"{path_of(tenant)}/{session.uuid}/cancel", [Api(key=tenant.plaintext) for _ in range(8)]

    def end(number: int) -> None:
        if number % 2:
            expire_sessions(now=now(), by=SYSTEM)
        else:
            assert clients[number].post(path).status_code == 200

    at_once(end, times=8)
    assert connection_events(tenant) == [f"{EVENT}expired"]


def test_the_channel_events_are_in_the_catalogue_once_the_feature_is_on(a: Tenant) -> None:
    names = [f"{EVENT}{end}" for end in ("completed", "failed", "cancelled", "expired")]
    before = [entry["event"] for entry in a.api.get("/webhooks/events").json()["data"]]
    hook = {"url": "https://93.184.215.14/hook", "events": names}
    assert len(before) == 6
    assert a.api.post("/webhooks", hook).status_code == 422
    switch_on(a)
    after = a.api.get("/webhooks/events").json()["data"]
    assert [entry["event"] for entry in after] == before + names
    assert all(entry["label"] for entry in after)
    made = a.api.post("/webhooks", hook)
    assert (made.status_code, made.json()["data"]["events"]) == (201, names)
    for name in names:
        tested = a.api.post(f"/webhooks/{made.json()['data']['uuid']}/test", {"event": name})
        assert (tested.status_code, tested.json()["data"]["event"]) == (202, name)


def test_the_document_describes_the_endpoints_and_the_events(anonymous: Api, db: None) -> None:
    document = anonymous.get("/openapi.json").json()
    base = "/api/agency/v1/workspaces/{workspace}/channel-connections"
    assert {base, f"{base}/{{connection}}", f"{base}/{{connection}}/cancel"} <= document["paths"].keys()
    assert set(document["paths"][base]["post"]["responses"]) >= {"200", "201", "403", "404", "409", "422"}
    for end in ("completed", "failed", "cancelled", "expired"):
        body = document["webhooks"][f"{EVENT}{end}"]["post"]["requestBody"]["content"]["application/json"]
        data = resolved(body["schema"]["properties"]["data"], document)
        assert body["example"]["data"].keys() == set(data["required"])
