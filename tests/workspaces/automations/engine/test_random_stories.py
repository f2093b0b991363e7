"""Random flows, people and engines on a real database: what must hold, holds after each thing that happens."""

from collections import Counter
from datetime import timedelta
from typing import Any, Final

import pytest
from django.db.models import Count, F, QuerySet, Sum
from django.utils.timezone import now
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from agency.actors import SYSTEM
from agency.models import Agency
from config.tries.models import BegunWork
from tests import furnished
from tests.factories import ChannelFactory, WorkspaceFactory
from tests.packs.client import an_automation
from tests.parallel import at_once
from tests.sizes import FULL_SIZE, size
from tests.tenants import Tenant
from tests.workspaces.automations.execution.test_random_flows import valid_flows
from tests.workspaces.conversations.facts import person, receive, received
from workspaces.automations.engine.loop import run_due
from workspaces.automations.flows.flow import Flow, Node
from workspaces.automations.models import (
    Automation,
    AutomationCount,
    AutomationPause,
    AutomationRun,
    AutomationRunStep,
    ContactQueue,
    OutsideCall,
    TriggerEvent,
)
from workspaces.automations.services import disable_automation
from workspaces.automations.services.outside_calls import CallResult, record_results
from workspaces.automations.services.pauses import end_pause, pause_conversation
from workspaces.automations.services.run_control import (
    AutomationIsOff,
    RunHasEnded,
    RunIsActive,
    start_run,
    stop_run,
    stop_runs_of_automation,
)
from workspaces.automations.services.run_counts import merge_counts
from workspaces.contacts.models import Contact
from workspaces.conversations.models import Conversation, Message
from workspaces.conversations.services.conversations import ContactOptedOut
from workspaces.subaccounts.models import Workspace

a = furnished.a_with_customer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

MOST_AUTOMATIONS: Final = 5
STEPS: Final = (
    "send_text",
    "send_buttons",
    "send_list",
    "ask_question",
    "ask_choice",
    "ask_rating",
    "ask_consent",
    "wait",
    "wait_until",
    "wait_for_reply",
    "add_tag",
    "set_field",
    "condition",
    "split",
    "hand_over",
    "close_conversation",
    "subscription",
    "notify_team",
    "http_call",
)
TRIGGERS: Final[tuple[dict[str, Any], ...]] = (
    {"type": "keyword", "config": {"keywords": ["hello", "prices"], "typos": True}},
    {"type": "tag_added", "config": {"tag": "Ok"}},
    {"type": "first_message", "config": {}},
    {"type": "keyword", "config": {"keywords": ["hello"], "match": "exact"}},
)
SAID: Final = ("hello", "Any pirces?", "yes", "no", "1", "tomorrow at 3", "a@x.example", "STOP", "an agent, please")
FLOWS: Final = valid_flows("whatsapp", STEPS, least=4)
PEOPLE: Final = st.integers(1, 2)
# Who writes what before something else happens, so that nothing happens in silence.
WORDS: Final = st.tuples(PEOPLE, st.sampled_from(SAID))
ANY: Final = st.integers(0, 7)


class Story(RuleBasedStateMachine):
    """What happens to the automations of one workspace. Each story has a workspace of its own."""

    agency: Agency

    def __init__(self) -> None:
        super().__init__()
        self.workspace: Workspace = WorkspaceFactory.create(agency=self.agency)
        self.channel = ChannelFactory.create(workspace=self.workspace)
        self.decided: dict[int, tuple[Any, ...]] = {}

    def teardown(self) -> None:
        """Let no engine of another story work on this one."""
        Workspace.objects.filter(pk=self.workspace.pk).update(status="suspended", suspended_at=now())
        ContactQueue.objects.filter(workspace_id=self.workspace.pk).delete()

    # Rows of this story ----------------------------------------------------------------------------------

    @property
    def automations(self) -> "QuerySet[Automation]":
        return Automation.objects.filter(workspace=self.workspace).order_by("pk")

    @property
    def runs(self) -> "QuerySet[AutomationRun]":
        return AutomationRun.objects.filter(workspace=self.workspace)

    @property
    def active(self) -> "QuerySet[AutomationRun]":
        return self.runs.filter(status__in=AutomationRun.ACTIVE).order_by("pk")

    @property
    def events(self) -> "QuerySet[TriggerEvent]":
        return TriggerEvent.objects.filter(workspace_id=self.workspace.pk)

    @property
    def sent(self) -> "QuerySet[Message]":
        return Message.objects.filter(workspace_id=self.workspace.pk, direction="out", sent_by_kind="automation")

    @property
    def conversations(self) -> "QuerySet[Conversation]":
        return Conversation.objects.filter(workspace=self.workspace).order_by("pk")

    @property
    def queue(self) -> "QuerySet[ContactQueue]":
        return ContactQueue.objects.filter(workspace_id=self.workspace.pk)

    # What happens ----------------------------------------------------------------------------------------

    @initialize(flows=st.tuples(FLOWS, FLOWS, FLOWS))
    def begin(self, flows: tuple[Flow, ...]) -> None:
        """Two people write to three automations, and staff start a second one for both."""
        for flow, trigger in zip(flows, TRIGGERS, strict=False):
            self.switch_on(flow, trigger, "always", stops_on_reply=False)
        self.write(1, "hello")
        self.write_and_be_answered(2, "Any pirces?")
        for who in (0, 1):
            self.start_by_hand(1, who)
        self.one_engine_works()

    @rule(
        flow=FLOWS,
        trigger=st.sampled_from(TRIGGERS),
        reentry=st.sampled_from(["always", "once"]),
        stops_on_reply=st.booleans(),
    )
    def switch_on(self, flow: Flow, trigger: Node, reentry: str, *, stops_on_reply: bool) -> None:
        if self.automations.count() < MOST_AUTOMATIONS:
            made = an_automation(self.workspace, flow={**flow, "trigger": trigger})
            changes = {"reentry": reentry, "stops_on_reply": stops_on_reply}
            Automation.objects.filter(pk=made.pk).update(enabled=True, **changes)

    @rule(who=PEOPLE, text=st.sampled_from(SAID))
    def write(self, who: int, text: str) -> None:
        receive(received(self.channel, person=person(who), text=text, at=now()))

    @rule(who=PEOPLE, text=st.sampled_from(SAID))
    def write_and_be_answered(self, who: int, text: str) -> None:
        self.write(who, text)
        self.one_engine_works()

    @rule(which=ANY)
    def press_and_be_answered(self, which: int) -> None:
        """Press a button of the latest messages, also one that is stale."""
        asked = (
            self.sent.filter(details__has_key="interactive").order_by("-pk")[:4].select_related("conversation__contact")
        )
        buttons = [(one, button) for one in asked for button in one.details["interactive"].get("options", ())]
        if buttons:
            message, button = buttons[which % len(buttons)]
            who = int(str(message.conversation.contact.phone)[-3:])
            text, payload = button["title"], button["payload"]
            receive(received(self.channel, person=person(who), text=text, payload=payload, at=now()))
            self.one_engine_works()

    @rule()
    def one_engine_works(self) -> None:
        run_due()
        self.nothing_is_left()

    @rule()
    def two_engines_work(self) -> None:
        self.write(1, "hello")
        self.write(2, "1")
        at_once(lambda _: run_due(), times=2)
        self.nothing_is_left()
        merge_counts()  # an engine whose turn it was not leaves its last counts to the next one

    @rule(which=ANY, who=ANY)
    def start_by_hand(self, which: int, who: int) -> None:
        for automation in self._one_of(self.automations, which):
            for contact in self._one_of(Contact.objects.of(self.workspace).order_by("pk"), who):
                try:
                    start_run(automation=automation, contact=contact, by=SYSTEM, now=now())
                except (AutomationIsOff, ContactOptedOut):
                    assert not automation.enabled or contact.opted_out_at
                except RunIsActive:
                    assert self.active.filter(automation=automation, contact_id=contact.pk).exists()

    @rule(words=WORDS, hours=st.sampled_from([1, 23, 80, 24 * 400]))
    def time_passes(self, words: tuple[int, str], hours: int) -> None:
        """Move everything that has happened, and all that is due, into the past."""
        self.write(*words)
        passed = timedelta(hours=hours)
        self.active.update(wait_until=F("wait_until") - passed)
        self.runs.update(started_at=F("started_at") - passed)
        self.queue.update(
            ready_at=F("ready_at") - passed,
            minute_began_at=F("minute_began_at") - passed,
            day_began_at=F("day_began_at") - passed,
            last_text_at=F("last_text_at") - passed,
        )
        self.events.update(created_at=F("created_at") - passed)
        self.conversations.update(last_inbound_at=F("last_inbound_at") - passed)
        AutomationPause.objects.filter(workspace_id=self.workspace.pk).update(until=F("until") - passed)

    @rule(words=WORDS, which=ANY, lasts=st.booleans())
    def people_take_over(self, words: tuple[int, str], which: int, *, lasts: bool) -> None:
        self.write(*words)
        for one in self._one_of(self.conversations, which):
            until = None if lasts else now() + timedelta(hours=24)
            pause_conversation(
                conversation_id=one.pk, workspace_id=self.workspace.pk, reason="answered", now=now(), until=until
            )

    @rule(words=WORDS, which=ANY)
    def people_are_done(self, words: tuple[int, str], which: int) -> None:
        self.write(*words)
        for one in self._one_of(self.conversations, which):
            end_pause(conversation_id=one.pk, workspace_id=self.workspace.pk)

    @rule(words=WORDS, which=ANY)
    def stop_one_run(self, words: tuple[int, str], which: int) -> None:
        self.write(*words)
        for run in self._one_of(self.runs.order_by("pk"), which):
            was_active = run.status in AutomationRun.ACTIVE
            try:
                stop_run(run=run, by=SYSTEM, now=now())
            except RunHasEnded:
                assert not was_active

    @rule(words=WORDS, which=ANY, stops=st.booleans())
    def switch_off(self, words: tuple[int, str], which: int, *, stops: bool) -> None:
        self.write(*words)
        for automation in self._one_of(self.automations, which):
            disabled = disable_automation(automation=automation, now=now(), by=SYSTEM)
            if stops:
                stop_runs_of_automation(automation=disabled, now=now())
                assert not self.active.filter(automation=automation).exists()

    @rule(words=WORDS, code=st.sampled_from(["", "timeout"]), twice=st.booleans())
    def a_call_ends(self, words: tuple[int, str], code: str, *, twice: bool) -> None:
        self.write(*words)
        calls = OutsideCall.objects.filter(workspace_id=self.workspace.pk, status="planned")
        results = [CallResult(one.pk, one.tries, code=code, result={"status": 200, "text": "1"}) for one in calls[:1]]
        for number in range(1 + twice):
            assert record_results(results, worker=None) == (0 if number else len(results))

    def _one_of(self, rows: "QuerySet[Any]", which: int) -> list[Any]:
        found = list(rows)
        return [found[which % len(found)]] if found else []

    # What holds ------------------------------------------------------------------------------------------

    def nothing_is_left(self) -> None:
        """After engines have worked, everything is decided, and no wait is over."""
        assert not self.events.filter(outcome=None).exists()
        assert not self.active.filter(wait_until__lte=now() - timedelta(seconds=30)).exists()
        assert not self.queue.filter(is_due=True).exists()

    @invariant()
    def no_batch_has_failed(self) -> None:
        assert not self.queue.filter(is_suspect=True).exists()
        assert not BegunWork.objects.exists()
        assert not self.runs.filter(error_code="internal_error").exists()

    @invariant()
    def each_fact_is_decided_once(self) -> None:
        columns = ("pk", "outcome", "reason", "automation_id", "run_id")
        for pk, *outcome in self.events.filter(outcome__isnull=False).values_list(*columns):
            assert self.decided.setdefault(pk, tuple(outcome)) == tuple(outcome)
        of_messages = self.runs.filter(event__in=self.events.filter(kind="message").values("pk"))
        assert not of_messages.values("event").annotate(number=Count("pk")).filter(number__gt=1).exists()

    @invariant()
    def a_contact_is_once_in_an_automation_and_answers_one_question(self) -> None:
        for columns, rows in (
            (("automation", "contact_id", "subject"), self.active),
            (("conversation_id",), self.active.filter(wait_kind="reply")),
        ):
            assert max(Counter(rows.values_list(*columns)).values(), default=0) <= 1

    @invariant()
    def no_run_is_forgotten(self) -> None:
        """Each active run has a deadline, and its contact is due, or will be by then."""
        queued = {one.contact_id: one for one in self.queue}
        for run in self.active:
            assert run.wait_until is not None
            place = queued[run.contact_id]
            assert place.is_due or (place.ready_at is not None and place.ready_at <= run.wait_until)

    @invariant()
    def each_message_belongs_to_one_step(self) -> None:
        steps = AutomationRunStep.objects.filter(run__workspace=self.workspace)
        named = [
            key
            for first, others in steps.filter(message_id__isnull=False).values_list("message_id", "other_messages")
            for key in (first, *(others or ()))
        ]
        assert sorted(named) == sorted(self.sent.values_list("pk", flat=True))
        numbers = Counter(steps.values_list("run_id", flat=True))
        assert {run.pk: run.seq for run in self.runs if run.seq} == dict(numbers)

    @invariant()
    def stopped_runs_and_ended_ones_have_no_wait(self) -> None:
        assert not self.runs.exclude(status__in=AutomationRun.ACTIVE).exclude(wait_kind=None).exists()

    @invariant()
    def counts_equal_rows(self) -> None:
        counted = AutomationCount.objects.filter(automation__workspace=self.workspace)
        of_runs = {
            row["port"]: row["all"] for row in counted.filter(node="").values("port").annotate(all=Sum("number"))
        }
        by_status = Counter(self.runs.values_list("status", flat=True))
        for port in ("completed", "stopped", "failed"):
            assert of_runs.get(port, 0) == by_status[port], port
        assert (of_runs.get("started", 0), of_runs.get("messages", 0)) == (self.runs.count(), self.sent.count())
        of_steps = Counter[tuple[Any, ...]]()
        for automation, node, port, number in counted.exclude(node="").values_list(
            "automation", "node", "port", "number"
        ):
            of_steps[automation, node, port] += number
        done = AutomationRunStep.objects.filter(run__workspace=self.workspace)
        assert of_steps == Counter(done.values_list("run__automation", "node", "port"))


def test_whatever_happens_the_rules_hold(a: Tenant) -> None:
    class OfThisAgency(Story):
        agency = a.agency

    run_state_machine_as_test(
        OfThisAgency,
        settings=settings(
            max_examples=size("stories of automations", "stories"),
            stateful_step_count=size("stories of automations", "things that happen"),
            suppress_health_check=list(HealthCheck),
            # To make a failure smaller takes minutes with a database.
            phases=tuple(Phase) if FULL_SIZE else (Phase.generate,),
        ),
    )
