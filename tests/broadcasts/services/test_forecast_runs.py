"""Forecasts of audiences that nobody waits for: told as far as they are counted, and counted to the end meanwhile."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from broadcasts.models import AudienceForecast, Broadcast
from broadcasts.services import forecast
from broadcasts.services.forecast import Counting, ForecastUnavailable, count_further, forget_forecasts, preview
from broadcasts.tasks import count_audiences
from tests import furnished
from tests.broadcasts.making import a_body
from tests.broadcasts.services.making import a_contact, an_identity, filled, scheduled, templated
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.contacts.models import Contact

a = furnished.a_with_channel

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft(a: Tenant) -> Broadcast:
    """To people of three zones, some of whom are skipped, and one whose number is the phone of another."""
    message = templated(a) | filled("{{contact.first_name}}")
    an_identity(a_contact(a, None, name="Twin"), a.channel, "491512")
    a_contact(a, "+491511", name="Ada Lovelace", timezone="Europe/Berlin")
    a_contact(a, "+12025550123", name="Mary", timezone="America/New_York")
    a_contact(a, "+491514", name="")
    a_contact(a, "+491515", name="Out", opted_out_at=now(), opt_out_source="api")
    a_contact(a, None, name="Nobody")
    a_contact(a, "+491512", name="Grace Hopper", timezone="America/New_York")
    wall = (now() + timedelta(days=3)).replace(hour=9, minute=0, second=0, microsecond=0)
    local = wall.strftime("%Y-%m-%d %H:%M:%S")
    return scheduled(a, message=message, status="Draft", timezone_mode="contact", scheduled_local_at=local)


@pytest.fixture
def in_pieces(monkeypatch: Any) -> None:
    """Nobody waits for more than a piece, of two contacts."""
    monkeypatch.setattr(forecast, "SIZE", 2)
    monkeypatch.setattr(forecast, "FIRST_SECONDS", -1)


def test_what_is_counted_in_pieces_is_what_is_counted_at_once(a: Tenant, draft: Broadcast, monkeypatch: Any) -> None:
    whole = preview(a.workspace, draft)
    assert (whole.counting, whole.recipients_count, whole.skipped["duplicate_address"]) == (None, 7, 1)
    assert not AudienceForecast.objects.exists()
    monkeypatch.setattr(forecast, "SIZE", 2)
    monkeypatch.setattr(forecast, "FIRST_SECONDS", -1)
    seen = []
    while (shown := preview(a.workspace, draft)).counting:
        seen.append((shown.counting.walked, shown.recipients_count))
        assert count_further()
    assert seen == [(2, 2), (4, 4), (6, 6)]
    assert shown == replace(whole, sample=shown.sample)
    assert shown.sample == ["Hello Twin", "Hello Ada"]  # of the first piece that is sent to anybody
    assert not count_further()


def test_an_api_that_asks_again_is_told_more_and_costs_nothing(a: Tenant, draft: Broadcast, in_pieces: None) -> None:
    body = a_body(a, message=draft.message, timezone_mode="contact", scheduled_local_at=draft.scheduled_local_at)
    told = a.workspace_api.post("/broadcasts/preview", body)
    assert told.status_code == 200, told.content
    assert told.json()["data"]["counting"] == {"walked": 2, "total": 7}
    with CaptureQueriesContext(connection) as captured:
        assert a.workspace_api.post("/broadcasts/preview", body).json()["data"]["recipients_count"] == 2
    assert not [one for one in captured if "GROUPING SETS" in one["sql"]]
    count_audiences()
    last = a.workspace_api.post("/broadcasts/preview", body).json()["data"]
    assert (last["counting"], last["recipients_count"]) == (None, 7)
    assert last == {**a.workspace_api.post(f"/broadcasts/{draft.uuid}/preview").json()["data"], **last}


def test_the_page_says_how_far_it_has_come(a: Tenant, draft: Broadcast, in_pieces: None) -> None:
    client, page = dashboard_client(a.workspace), f"/app/broadcasts/{draft.uuid}/preview"
    shown = client.get(page).content.decode()
    assert "Still counting: 2 of 7 contacts so far." in shown
    assert 'data-progress="1500"' in shown
    count_audiences()
    shown = client.get(page).content.decode()
    assert "Still counting" not in shown
    assert "data-progress" not in shown


def test_a_forecast_is_counted_anew_after_a_while_and_after_a_change(
    a: Tenant, draft: Broadcast, in_pieces: None
) -> None:
    preview(a.workspace, draft)
    count_audiences()
    assert preview(a.workspace, draft).counting is None
    AudienceForecast.objects.update(completed_at=now() - timedelta(minutes=2))
    assert preview(a.workspace, draft).counting == Counting(2, 7)
    Broadcast.objects.filter(pk=draft.pk).update(timezone_mode="fixed", scheduled_local_at=None)
    changed = Broadcast.objects.select_related("channel", "workspace").get(pk=draft.pk)
    assert preview(a.workspace, changed).counting == Counting(2, 7)
    assert AudienceForecast.objects.count() == 2


def test_what_dies_again_and_again_is_given_up_while_others_go_on(
    a: Tenant, draft: Broadcast, in_pieces: None, monkeypatch: Any
) -> None:
    def die(*_: object, **__: object) -> None:
        raise SystemExit(137)  # as nothing after this line is done when a process is killed

    preview(a.workspace, draft)
    with monkeypatch.context() as patched:
        patched.setattr(forecast, "freeze_message", die)
        for _ in range(forecast.MOST_TRIES):
            with pytest.raises(SystemExit):
                count_further()
    assert not count_further()
    with pytest.raises(ForecastUnavailable):
        preview(a.workspace, draft)
    draft.message = {**draft.message, **filled("{{contact.last_name}}")}
    assert preview(a.workspace, draft).counting
    count_audiences()
    assert preview(a.workspace, draft).counting is None


def test_a_workspace_has_few_forecasts_counted_at_once(a: Tenant, draft: Broadcast, in_pieces: None) -> None:
    for day in range(1, 6):
        draft.scheduled_local_at = f"2030-06-0{day} 09:00:00"
        preview(a.workspace, draft)
    kept = AudienceForecast.objects.order_by("pk")
    assert [one.draft["scheduled_local_at"][:10] for one in kept] == ["2030-06-03", "2030-06-04", "2030-06-05"]
    AudienceForecast.objects.update(created_at=now() - timedelta(hours=1))
    assert forget_forecasts() == 3


def test_who_comes_while_it_is_counted_is_not_waited_for(a: Tenant, draft: Broadcast, in_pieces: None) -> None:
    preview(a.workspace, draft)
    for number in range(5):
        a_contact(a, f"+4930000{number}", name="New")
    Contact.objects.filter(name="Out").delete()
    count_audiences()
    shown = preview(a.workspace, draft)
    assert (shown.counting, shown.recipients_count) == (None, 6)
