"""Every code that a run, its steps or a fact can keep is shown in words."""

import re

import pytest
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests import furnished
from tests.factories import ChannelFactory, ContactFactory
from tests.packs.client import an_automation
from tests.tenants import Tenant
from tests.workspaces.automations.runs import a_run, a_step_of
from tests.workspaces.automations.written_codes import (
    DETAILS,
    EVENTS,
    FAILURES,
    STOPS,
    codes_of,
    http_codes,
    returned_by,
)
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.automations.dashboard.run_texts import event_reason, run_reason
from workspaces.automations.dispatcher import preparing
from workspaces.automations.engine.contents import reason_unsendable
from workspaces.automations.execution.decisions import REASONS
from workspaces.automations.execution.running import ERRORS
from workspaces.automations.models import AutomationRun, TriggerEvent
from workspaces.automations.providers import ai
from workspaces.automations.services import enable_automation
from workspaces.automations.services.run_control import RESTORED, StopReason

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
SENTENCE = re.compile(r"[A-Z][^_]+\.")
STEP = re.compile(r'<strong>[^<]*</strong><div class="small muted">.*? · waited here(?: · ([^<]+))?</div>')


def written_details() -> set[str]:
    mapped = {preparing.HTTP_CODES.get(code, code) for code in http_codes()} | {*ai.CODES.values()}
    found = codes_of(DETAILS, keyword="detail") | returned_by(reason_unsendable) | returned_by(preparing._http_result)
    return found | mapped | ERRORS.keys() | {"status_404"}


def test_the_run_s_page_shows_every_reason_of_a_step_in_words(a: Tenant) -> None:
    codes = sorted(written_details())
    assert {"window_closed", "no_value", "budget", "not_text", "waiting_for_turn", "unfounded", "http_5xx"} <= {*codes}
    channel = ChannelFactory.create(workspace=a.workspace)
    automation = enable_automation(automation=an_automation(a.workspace), now=now(), by=SYSTEM)
    run = a_run(automation, ContactFactory.create(workspace=a.workspace), channel=channel)
    for number, code in enumerate(codes):
        a_step_of(run, number, code, "waiting", detail=code)
    owner: Client = dashboard_client(a.workspace)
    page = owner.get(f"/app/automations/{automation.uuid}/runs/{run.uuid}").content.decode()
    shown = STEP.findall(page)
    assert len(shown) == len(codes)
    assert [code for code, detail in zip(codes, shown, strict=True) if not SENTENCE.fullmatch(detail)] == []


def test_every_reason_of_a_stop_a_failure_and_a_decision_is_a_sentence() -> None:
    stops = {*StopReason, *codes_of(STOPS), *REASONS, RESTORED}
    failures = {*ERRORS, *codes_of(FAILURES, sql="error_code")}
    events = {*REASONS, *codes_of(EVENTS, sql="reason"), RESTORED}
    assert {"conversation_gone"} < stops
    assert {"internal_error", "too_many_messages_to_contact"} < failures
    assert {"internal_error", "too_late", "no_channel"} < events
    said = {code: run_reason(AutomationRun(status="stopped", error_message=code)) for code in stops}
    said |= {f"failed {code}": run_reason(AutomationRun(status="failed", error_code=code)) for code in failures}
    said |= {f"fact {code}": event_reason(TriggerEvent(reason=code)) for code in events}
    assert [code for code, words in said.items() if not SENTENCE.fullmatch(words)] == []
