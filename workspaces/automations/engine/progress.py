"""Moves runs on: calls the interpreter, and turns its steps and effects into a plan of writes."""

from dataclasses import replace
from datetime import datetime
from typing import Final

from django.utils.translation import gettext_noop

from config.db import name_key
from config.errors import DomainError
from workspaces.automations.engine.contents import MessageContents, count_message, reason_unsendable
from workspaces.automations.engine.planning import (
    BatchPlan,
    PlannedCall,
    PlannedEffect,
    PlannedInternalCall,
    PlannedMessage,
    PlannedTask,
    StepResult,
)
from workspaces.automations.engine.reading import TriggerCache, read_history
from workspaces.automations.engine.rows import ContactWork, ConversationRow, RunRow
from workspaces.automations.execution.internal_calls import InternalCall
from workspaces.automations.execution.interpreter import advance
from workspaces.automations.execution.languages.contacts import languages_of
from workspaces.automations.execution.types import (
    CallAi,
    CallHttp,
    ChangeTag,
    CreateTask,
    DoneStep,
    Effect,
    HandOver,
    Progress,
    RunContext,
    RunEvent,
    RunStatus,
    SendMessage,
    SetField,
    TimedOut,
    WaitKind,
)
from workspaces.automations.services.run_failures import TOO_MANY_MESSAGES
from workspaces.contacts.models import Contact
from workspaces.conversations.services import open_conversation, reachable_channels
from workspaces.conversations.services.content import COMMENT_REPLY, PUBLIC_REPLY
from workspaces.conversations.services.inbound import use_private_replies
from workspaces.subaccounts.models import Channel

# A run whose message could not be sent does not wait for an answer to it. It passes over so many such steps at once.
MOST_PASSED_OVER: Final = 20
# A person who starts a run wants its messages, even while people have the conversation in hand.
BY_ITSELF: Final = frozenset({"system", "automation"})
REFUSED: Final = "message_refused"
SENTENCES: Final = {TOO_MANY_MESSAGES: gettext_noop("Automations have sent this contact too many messages.")}


class RunProgress:
    """Moves the runs of one contact on. What its steps change is seen by the contact's later steps and facts."""

    def __init__(
        self, work: ContactWork, *, plan: BatchPlan, contents: MessageContents, cache: TriggerCache, now: datetime
    ) -> None:
        self._work = work
        self._plan = plan
        self._contents = contents
        self._cache = cache
        self._now = now

    def context(self, conversation: ConversationRow | None, run: RunRow | None) -> RunContext:
        """Return what steps may read. `may_listen` is about this run: another one must not listen already."""
        workspace = self._work.workspace
        where = conversation.id if conversation else None
        others = any(one.listens and one.conversation_id == where and one is not run for one in self._work.runs)
        return RunContext(
            now=self._now,
            platform=conversation.platform if conversation else "",
            timezone=workspace.timezone,
            languages=languages_of(self._work.values.language, self._work.values.country),
            currency=workspace.currency,
            country=workspace.country,
            contact=self._work.values,
            settings=workspace.texts,
            opening_hours=workspace.opening_hours,
            may_listen=not others,
        )

    def advance(self, run: RunRow, event: RunEvent) -> None:
        """Give a run an event. A run whose message could not be sent passes over the wait for its answer."""
        version = self._cache.version(run.version_id)
        self._plan.labels[run.version_id] = version.name
        conversation = self._work.conversations.get(run.conversation_id or 0)
        if conversation is None:
            self.stop(run, "conversation_gone")
            return
        for _ in range(MOST_PASSED_OVER):
            conversation = self._work.conversations[conversation.id]
            context = self.context(conversation, run)
            if version.has_ai:
                context = replace(context, history=read_history(conversation.id))
            progress = advance(version.flow, run.state, event, context)
            all_sent = self._apply(run, progress, conversation, version.name)
            if all_sent or not run.listens:
                return
            event = TimedOut()

    def stop(self, run: RunRow, reason: str) -> None:
        """Stop a run. `reason` is kept as its message."""
        run.status, run.wait_kind, run.wait_until, run.error_message = "stopped", None, None, reason
        self._plan.change(run)
        self._plan.count(run, "stopped")

    def hand_over(self, conversation: ConversationRow) -> None:
        """Let people have the conversation, because its contact asked for one."""
        self._plan.hand_overs.append((self._work, conversation.id))
        self._work.conversations[conversation.id] = conversation._replace(is_paused=True)

    def conversation_for(self, platform: str, channel: int | None) -> ConversationRow | None:
        """Return where a fact without a conversation is answered: the contact's latest one, or a new one."""
        known = [
            one
            for one in self._work.conversations.values()
            if one.platform == platform and one.channel_status == "active" and channel in (None, one.channel_id)
        ]
        if known:
            return max(known, key=lambda one: (one.last_inbound_at is not None, one.last_inbound_at, one.id))
        return self._open_conversation(platform, channel)

    def _open_conversation(self, platform: str, channel: int | None) -> ConversationRow | None:
        contact = Contact.objects.select_related("workspace").get(pk=self._work.pk)
        active = Channel.objects.filter(
            workspace=contact.workspace, platform=platform, status=Channel.Status.ACTIVE
        ).order_by("pk")
        wanted = active.filter(pk=channel) if channel else active
        reached = reachable_channels(contact, wanted[:20])
        if not reached:
            return None
        made = open_conversation(contact=contact, channel=reached[0], now=self._now)
        row = ConversationRow(made.pk, contact.pk, made.channel_id, platform, "active", made.last_inbound_at, False)
        self._work.conversations[row.id] = row
        return row

    # One call of the interpreter -------------------------------------------------------------------------

    def _apply(self, run: RunRow, progress: Progress, conversation: ConversationRow, label: str) -> bool:
        """Plan what a call of the interpreter gave. Return whether all its messages can be sent."""
        all_sent = True
        for step in progress.steps:
            all_sent = self._apply_step(run, step, conversation, label) and all_sent
            if run.status == "failed":
                run.state = progress.state.changed(seq=step.seq, node=step.node, wait=None)
                return True
        run.state = progress.state
        wait = progress.state.wait
        if progress.status is RunStatus.FAILED and progress.error is not None:
            self._fail(run, progress.error.code, progress.error.node, progress.error.sentence)
        elif wait is None:
            run.status, run.wait_kind, run.wait_until = "completed", None, None
            self._plan.count(run, "completed")
        else:
            run.status = "running" if wait.kind is WaitKind.CALL else "waiting"
            run.wait_kind, run.wait_until = wait.kind.value, wait.until
        self._plan.change(run)
        return all_sent

    def _apply_step(self, run: RunRow, step: DoneStep, conversation: ConversationRow, label: str) -> bool:
        result = StepResult(run, step.seq, step.node, step.port, step.detail, self._now)
        self._plan.steps.append(result)
        self._plan.count(run, step.port, node=step.node)
        all_sent = True
        for effect in step.effects:
            if isinstance(effect, SendMessage):
                all_sent = self._send(run, result, effect, conversation, label) and all_sent
            elif isinstance(effect, CallHttp | CallAi):
                self._plan.calls.append(PlannedCall(run, self._work, step.seq, effect))
            elif isinstance(effect, InternalCall):
                self._plan.internal_calls.append(PlannedInternalCall(run, self._work, step.seq, effect))
            elif isinstance(effect, CreateTask):
                self._plan.tasks.append(PlannedTask(run, self._work, result, effect))
            else:
                self._plan.effects.append(PlannedEffect(run, self._work, step.seq, effect))
                self._see(run, effect, conversation)
            if run.status == "failed":
                break
        return all_sent

    def _send(
        self, run: RunRow, result: StepResult, message: SendMessage, conversation: ConversationRow, label: str
    ) -> bool:
        place = self._work.conversations[conversation.id]
        is_asked_for = run.started_by_kind not in BY_ITSELF
        reason = reason_unsendable(place, message, self._now, is_asked_for=is_asked_for)
        private_until = self._private_reply(run, message) if reason == "window_closed" else None
        if reason and not private_until and not (message.reply_to_comment and reason == "window_closed"):
            result.detail = reason
            return False
        try:
            content = self._contents.build(run, result.seq, message, place)
        except DomainError as error:
            self._fail(run, REFUSED, result.node, error.message)
            return False
        if not count_message(self._work.caps, content, self._now):
            self._fail(run, TOO_MANY_MESSAGES, result.node, SENTENCES[TOO_MANY_MESSAGES])
            return False
        result.messages.append(len(self._plan.messages))
        if message.reply_to_comment:
            content = replace(content, details={**content.details, PUBLIC_REPLY: {"comment": run.comment}})
        elif private_until:
            told = {"comment": run.comment, "until": private_until.isoformat()}
            content = replace(content, details={**content.details, COMMENT_REPLY: told})
        self._plan.messages.append(PlannedMessage(run, self._work, place.id, content, label))
        self._plan.count(run, "messages")
        return True

    def _private_reply(self, run: RunRow, message: SendMessage) -> datetime | None:
        """Use the one private reply to the comment that started a run. Return until when the network takes it."""
        if not run.comment or message.reply_to_comment:
            return None
        key = (run.channel_id, run.comment)
        return use_private_replies([key], now=self._now).get(key)

    def _see(self, run: RunRow, effect: Effect, conversation: ConversationRow) -> None:
        """Let the contact's other runs and facts of this batch see a change that is written at its end."""
        values = self._work.values
        if isinstance(effect, ChangeTag):
            key = frozenset((name_key(effect.tag),))
            self._work.values = replace(values, tags=values.tags | key if effect.is_added else values.tags - key)
        elif isinstance(effect, SetField):
            self._work.values = replace(values, fields={**values.fields, effect.field: effect.value})
        elif isinstance(effect, HandOver):
            self._work.conversations[conversation.id] = conversation._replace(is_paused=True)
            self._plan.count(run, "handed_over")

    def _fail(self, run: RunRow, code: str, node: str, sentence: str) -> None:
        run.status, run.wait_kind, run.wait_until = "failed", None, None
        run.error_code, run.error_node, run.error_message = code, node, sentence
        run.state = run.state.changed(wait=None)
        self._plan.change(run)
        self._plan.count(run, "failed")
        self._plan.failed.append(run)
