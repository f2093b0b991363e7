"""Starting a channel connection over the API."""

import json
import re
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.conf import settings
from django.db import connection
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry
from channelconnect.models import ConnectSession
from channelconnect.services.settings import set_return_urls, switch_connect
from channelconnect.tasks import forget_notices
from config.api.models import IdempotencyRecord
from config.api.tasks import forget_idempotency_records
from tests import furnished
from tests.channelconnect.agencies import RETURN_URL, path_of, switch_on, wanted
from tests.factories import ChannelFactory, WorkspaceFactory
from tests.parallel import at_once
from tests.tenants import Api, Tenant, message
from workspaces.subaccounts.services import suspend_workspace

pytestmark = pytest.mark.slow

a, b = furnished.a_with_customer, furnished.b_with_customer

FIELDS = ["id", "workspace_id", "platform", "status", "channel_id", "error_code", "state", "expires_at"]
NOT_REGISTERED = [
    "https://app.example.com.evil.com/done",
    "https://app.example.com@evil.com/",
    "https://app.example.com:443@evil.com",
    "https://app.example.com%2eevil.com/done",
    "https://app.example.com。evil.com/done",
    "https://evil.com\\@app.example.com/done",
    "http://app.example.com/done",
    "https://app.example.com:8443/done",
    "https://app.example.com/other",
    "https://app.example.com/done/",
    "https://app.example.com/done?x=1",
    "https://app.example.com/done#x",
    "https://APP.example.com/done",
    "//evil.com",
    "/\\evil.com",
    "https:evil.com",
    "javascript:alert(1)",
    "data:text/html,x",
    "http://[::1",
    "https://\u0430pp.example.com/done",
    "https://app.example.com./done",
    "https://app.example.com/done" + "x" * 4_000,
]


def create(tenant: Tenant, body: dict[str, Any] | None = None, **headers: str) -> Any:
    return tenant.api.post(path_of(tenant), wanted() if body is None else body, **headers)


def test_a_new_connection_is_pending_for_30_minutes_and_holds_the_secret_address(connecting: Tenant) -> None:
    before = now()
    answer = create(connecting)
    data = answer.json()["data"]
    assert (answer.status_code, list(data)) == (201, [*FIELDS, "connect_url"])
    UUID(data["id"])
    rest = {name: data[name] for name in FIELDS[1:-1]}
    assert rest == {
        "workspace_id": str(connecting.workspace.uuid),
        "platform": "whatsapp",
        "status": "pending",
        "channel_id": None,
        "error_code": None,
        "state": "customer-4711",
    }
    expires = datetime.fromisoformat(data["expires_at"])
    assert data["expires_at"].endswith("Z")
    assert before + timedelta(minutes=30) <= expires <= now() + timedelta(minutes=30)
    assert re.fullmatch(re.escape(settings.PUBLIC_URL) + r"/connect/[\w-]{43}", data["connect_url"])


@pytest.mark.parametrize("platform", ["whatsapp", "facebook", "instagram"])
def test_each_platform_can_be_asked_for(connecting: Tenant, platform: str) -> None:
    assert create(connecting, wanted(platform=platform)).json()["data"]["platform"] == platform


REFUSED = [
    ({"return_url": RETURN_URL}, "platform"),
    ({"platform": "whatsapp"}, "return_url"),
    (wanted(platform="telegram"), "platform"),
    (wanted(platform=None), "platform"),
    (wanted(return_url=None), "return_url"),
    (wanted(return_url=f" {RETURN_URL}"), "return_url"),
    (wanted(return_url=f"{RETURN_URL}\n"), "return_url"),
    (wanted(return_url=7), "return_url"),
    (wanted(state="x" * 501), "state"),
    (wanted(state=7), "state"),
    (wanted(channel_id="x"), "channel_id"),
]


def test_a_field_that_is_missing_or_wrong_is_refused_by_its_name(connecting: Tenant) -> None:
    answers = [create(connecting, body) for body, _ in REFUSED]
    found = [(answer.status_code, list(answer.json()["errors"])) for answer in answers]
    assert found == [(422, [field]) for _, field in REFUSED]
    assert not ConnectSession.objects.exists()


def test_only_a_registered_return_url_is_taken_and_to_the_letter(connecting: Tenant) -> None:
    answers = {url: create(connecting, wanted(return_url=url)) for url in NOT_REGISTERED}
    refused = (422, ["return_url"])
    found = {url: (answer.status_code, list(answer.json()["errors"])) for url, answer in answers.items()}
    assert found == dict.fromkeys(NOT_REGISTERED, refused)


def test_another_agency_s_return_url_is_none_of_ours(connecting: Tenant, b: Tenant) -> None:
    switch_on(b, "https://b.example.com/")
    assert create(connecting, wanted(return_url="https://b.example.com/")).status_code == 422


def test_state_comes_back_exactly_as_it_was_sent(connecting: Tenant) -> None:
    for state in ("", " padded ", "x" * 500, "ü€😀\n\t&=?#%", "{}[]\"'<>\\", "\x7f\u202e\u200b"):
        data = create(connecting, wanted(state=state)).json()["data"]
        assert data["state"] == state
        assert connecting.api.get(f"{path_of(connecting)}/{data['id']}").json()["data"]["state"] == state


@pytest.mark.parametrize("body", [wanted(state=None), {"platform": "whatsapp", "return_url": RETURN_URL}])
def test_state_may_be_left_out(connecting: Tenant, body: dict[str, Any]) -> None:
    answer = create(connecting, body)
    assert (answer.status_code, answer.json()["data"]["state"]) == (201, None)


def test_unknown_fields_are_ignored(connecting: Tenant) -> None:
    data = create(connecting, wanted(status="connected", id=str(uuid4()), expires_at="2030-01-01T00:00:00Z")).json()[
        "data"
    ]
    assert data["status"] == "pending"
    assert data["expires_at"] < "2030"


def test_until_the_feature_is_on_creating_is_403(connecting: Tenant) -> None:
    switch_connect(agency=connecting.agency, enabled=False, reason="Unpaid", by=SYSTEM)
    for body in (wanted(), {}, wanted(platform="fax")):
        answer = create(connecting, body)
        assert (answer.status_code, message(answer)) == (403, "Channel connect is not enabled for this agency.")
    assert not ConnectSession.objects.exists()


def test_a_suspended_sub_account_is_409(connecting: Tenant) -> None:
    suspend_workspace(workspace=connecting.workspace, now=now(), by=SYSTEM)
    answer = create(connecting)
    assert (answer.status_code, message(answer)) == (409, "This sub-account is suspended.")


def test_a_sub_account_that_is_not_the_agency_s_is_404_whatever_the_body(connecting: Tenant, b: Tenant) -> None:
    for uuid in (b.workspace.uuid, uuid4(), "x"):
        answer = connecting.api.post(f"/workspaces/{uuid}/channel-connections", wanted())
        assert (answer.status_code, message(answer)) == (404, "Sub-account not found.")
    assert not ConnectSession.objects.exists()


def test_to_reconnect_the_channel_must_be_the_sub_account_s_and_of_the_platform(connecting: Tenant, b: Tenant) -> None:
    sister = ChannelFactory.create(workspace=WorkspaceFactory.create(agency=connecting.agency))
    for uuid in (sister.uuid, b.channel.uuid, uuid4()):
        answer = create(connecting, wanted(channel_id=str(uuid)))
        assert (answer.status_code, answer.json()) == (404, {"message": "Channel not found."})
    page = ChannelFactory.create(workspace=connecting.workspace, platform="facebook")
    answer = create(connecting, wanted(channel_id=str(page.uuid)))
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["channel_id"])
    assert not ConnectSession.objects.exists()
    own = create(connecting, wanted(channel_id=str(connecting.channel.uuid).upper()))
    assert own.status_code == 201
    assert own.json()["data"]["channel_id"] is None
    assert ConnectSession.objects.get().target == connecting.channel


def test_a_creation_is_in_the_activity_log_without_the_link(connecting: Tenant) -> None:
    data = create(connecting).json()["data"]
    entry = ActivityEntry.objects.get(action="connect.started")
    assert (entry.workspace_uuid, entry.target_id) == (connecting.workspace.uuid, data["id"])
    assert link_in(data) not in json.dumps([entry.details, entry.target_name, entry.actor_label])


# Repetition -----------------------------------------------------------------------------------------------


def link_in(data: dict[str, Any]) -> str:
    return str(data["connect_url"]).rpartition("/")[2]


def test_the_same_key_and_request_gives_the_same_session_with_200_and_its_address(connecting: Tenant) -> None:
    first, again = create(connecting, idempotency_key="k"), create(connecting, idempotency_key="k")
    assert (first.status_code, again.status_code, again["Idempotent-Replayed"]) == (201, 200, "true")
    assert again.json() == first.json()
    assert ConnectSession.objects.count() == 1
    assert ActivityEntry.objects.filter(action="connect.started").count() == 1


def test_the_address_is_not_shown_again_once_the_session_is_no_longer_pending(connecting: Tenant) -> None:
    data = create(connecting, idempotency_key="k").json()["data"]
    connecting.api.post(f"{path_of(connecting)}/{data['id']}/cancel")
    again = create(connecting, idempotency_key="k")
    assert (again.status_code, again.json()["data"]["status"]) == (200, "cancelled")
    assert "connect_url" not in again.json()["data"]


def test_the_same_key_with_another_body_is_409(connecting: Tenant) -> None:
    set_return_urls(agency=connecting.agency, return_urls=[RETURN_URL, "https://app.example.com/2"], by=SYSTEM)
    create(connecting, idempotency_key="k")
    for body in (
        wanted(platform="facebook"),
        wanted(state="other"),
        wanted(state=None),
        wanted(return_url="https://app.example.com/2"),
    ):
        answer = create(connecting, body, idempotency_key="k")
        assert (body, answer.status_code, list(answer.json())) == (body, 409, ["message"])
        assert ConnectSession.objects.count() == 1


def test_the_same_key_for_another_sub_account_or_reconnection_is_409(connecting: Tenant) -> None:
    create(connecting, idempotency_key="k")
    sister = WorkspaceFactory.create(agency=connecting.agency)
    path = f"/workspaces/{sister.uuid}/channel-connections"
    assert connecting.api.post(path, wanted(), idempotency_key="k").status_code == 409
    reconnecting = wanted(channel_id=str(connecting.channel.uuid))
    assert create(connecting, reconnecting, idempotency_key="k").status_code == 409


def test_fields_in_another_order_are_the_same_body_and_an_unknown_one_is_another(connecting: Tenant) -> None:
    create(connecting, idempotency_key="k")
    reordered = dict(reversed(wanted().items()))
    assert create(connecting, reordered, idempotency_key="k").status_code == 200
    assert create(connecting, reordered | {"unknown": 1}, idempotency_key="k").status_code == 409


def test_keys_belong_to_the_agency_whichever_of_its_api_keys_is_used(connecting: Tenant, b: Tenant) -> None:
    switch_on(b)
    assert create(connecting, idempotency_key="k").status_code == 201
    assert create(b, idempotency_key="k").status_code == 201


def test_a_refused_request_uses_no_key_up(connecting: Tenant) -> None:
    assert create(connecting, wanted(return_url="https://no.example/"), idempotency_key="k").status_code == 422
    assert create(connecting, idempotency_key="k").status_code == 201


def test_a_key_counts_for_as_long_as_its_session_exists(connecting: Tenant) -> None:
    first = create(connecting, idempotency_key="k").json()["data"]
    long_ago = now() - timedelta(days=89)
    ConnectSession.objects.update(created_at=long_ago, expires_at=long_ago + timedelta(minutes=30))
    forget_idempotency_records()
    forget_notices()
    again = create(connecting, idempotency_key="k")
    assert (again.status_code, again.json()["data"]["id"]) == (200, first["id"])
    assert (again.json()["data"]["status"], "connect_url" in again.json()["data"]) == ("expired", False)
    assert create(connecting, wanted(state="other"), idempotency_key="k").status_code == 409


def test_a_repetition_is_403_while_the_feature_is_off(connecting: Tenant) -> None:
    create(connecting, idempotency_key="k")
    switch_connect(agency=connecting.agency, enabled=False, reason="Unpaid", by=SYSTEM)
    assert create(connecting, idempotency_key="k").status_code == 403


def test_a_used_key_is_409_even_where_the_body_would_be_refused(connecting: Tenant) -> None:
    create(connecting, idempotency_key="k")
    for body in (
        {},
        wanted(platform="fax"),
        wanted(return_url="https://no.example/"),
        wanted(channel_id=str(uuid4())),
        wanted(unknown={"deep": [None, 1e300]}),
    ):
        assert (body, create(connecting, body, idempotency_key="k").status_code) == (body, 409)


def test_a_key_is_kept_with_its_session_alone(connecting: Tenant) -> None:
    data = create(connecting, idempotency_key="k").json()["data"]
    assert ConnectSession.objects.get(idempotency_key="k").uuid == UUID(data["id"])
    assert not IdempotencyRecord.objects.exists()


def test_a_malformed_key_is_400(connecting: Tenant) -> None:
    for key in ("", "x" * 256, "ü"):
        assert (key, create(connecting, idempotency_key=key).status_code) == (key, 400)


@pytest.mark.django_db(transaction=True)
def test_30_at_once_with_one_key_make_one_session() -> None:
    tenant = switch_on(Tenant())
    path, clients = path_of(tenant), [Api(key=tenant.plaintext) for _ in range(30)]
    answers = at_once(lambda number: clients[number].post(path, wanted(), idempotency_key="k"), times=30)
    assert sorted(answer.status_code for answer in answers) == [200] * 29 + [201]
    assert len({answer.content for answer in answers}) == 1
    assert ConnectSession.objects.count() == 1


# The secret -----------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_the_address_is_in_no_column_of_the_database() -> None:
    tenant = switch_on(Tenant())
    link = link_in(create(tenant, idempotency_key="k").json()["data"])
    dump = everything_stored()
    assert str(tenant.workspace.uuid) in dump
    assert link not in dump
    assert link.encode().hex() not in dump


def everything_stored() -> str:
    """Every row of every table, as PostgreSQL writes rows out (bytes as hex)."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        tables = [row[0] for row in cursor.fetchall()]
        rows: list[str] = []
        for table in tables:
            cursor.execute(f'SELECT t::text FROM "{table}" t')  # noqa: S608  # names from the catalogue
            rows += [row[0] for row in cursor.fetchall()]
    return "\n".join(rows)


def test_sessions_are_forgotten_after_ninety_days_and_their_keys_with_them(connecting: Tenant) -> None:
    first = create(connecting, idempotency_key="k").json()["data"]
    ConnectSession.objects.update(status="expired", link=None, ended_at=now() - timedelta(days=89.5))
    forget_notices()
    assert create(connecting, idempotency_key="k").json()["data"]["id"] == first["id"]
    ConnectSession.objects.update(ended_at=now() - timedelta(days=90.5))
    forget_notices()
    assert create(connecting, wanted(state="other"), idempotency_key="k").status_code == 201
    assert ConnectSession.objects.get().status == "pending"
