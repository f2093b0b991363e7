"""What contacts' pages and the inbox say about automations: runs, decisions about messages, and pauses."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from config.formats import format_day_time
from workspaces.automations.dashboard.run_texts import event_reason
from workspaces.automations.dashboard.runs import RUN, run_lines
from workspaces.automations.models import Automation, AutomationRun, TriggerEvent
from workspaces.automations.services.pauses import end_pause, pauses_of
from workspaces.automations.services.shown_runs import shown_runs
from workspaces.contacts.models import Contact
from workspaces.contacts.pages import TimelineEntry
from workspaces.conversations.models import Conversation
from workspaces.conversations.pages import ConversationBanner, MessageRemark
from workspaces.conversations.services import ConversationNotFound
from workspaces.subaccounts.dashboard.base import DashboardView

CONVERSATION = "app:conversation"
MOST_RUNS: Final = 10


def runs_of_contact(contact: Contact) -> Mapping[str, object]:
    """Give the contact's runs for its page: those under way first, then the newest."""
    own = AutomationRun.objects.of(contact.workspace).filter(contact_id=contact.pk).select_related("automation")
    active = list(own.active().newest_first()[:MOST_RUNS])
    ended = list(own.exclude(status__in=AutomationRun.ACTIVE).newest_first()[: MOST_RUNS - len(active)])
    return {"contact": contact, "lines": run_lines(shown_runs([*active, *ended], most_steps=0))}


def automations_of_timeline(contact: Contact, before: datetime, most: int) -> list[TimelineEntry]:
    """Give the newest runs that began before a moment, for the contact's timeline."""
    own = AutomationRun.objects.of(contact.workspace).filter(contact_id=contact.pk, started_at__lt=before)
    return [
        TimelineEntry(
            at=run.started_at,
            icon="automation",
            title=_("Automation: %(name)s") % {"name": run.automation.name},
            state=run.get_status_display(),
            url=reverse(RUN, args=[run.automation.uuid, run.uuid]),
        )
        for run in own.select_related("automation").newest_first()[:most]
    ]


def message_remarks(messages: Collection[int]) -> Mapping[int, MessageRemark]:
    """Say of incoming messages which automation answered, or why none did."""
    decided = list(TriggerEvent.objects.filter(message_id__in=messages, outcome__isnull=False).order_by("-pk"))
    if not decided:
        return {}
    named = Automation.objects.filter(pk__in={one.automation_id for one in decided})
    names = dict(named.values_list("pk", "name"))
    runs = AutomationRun.objects.filter(pk__in={one.run_id for one in decided})
    found = runs.values_list("pk", "automation__uuid", "uuid")
    addresses = {pk: reverse(RUN, args=[automation, run]) for pk, automation, run in found}
    return {one.message_id or 0: _remark(one, names, addresses) for one in decided}


def _remark(event: TriggerEvent, names: Mapping[int, str], addresses: Mapping[int, str]) -> MessageRemark:
    reason = event_reason(event)
    name = names.get(event.automation_id or 0, "")
    if event.outcome == TriggerEvent.Outcome.NOTHING or not name:
        return MessageRemark(_("No automation replied. %(reason)s") % {"reason": reason})
    text = _("Automation “%(name)s”: %(reason)s") % {"name": name, "reason": reason}
    return MessageRemark(text, addresses.get(event.run_id or 0, ""))


def pause_banner(conversation: Conversation) -> ConversationBanner | None:
    """Say that automations are paused in a conversation, with a button that lets them answer again."""
    pause = pauses_of([conversation.pk]).get(conversation.pk)
    if pause is None:
        return None
    text = _("Automations are paused here until the conversation is closed.")
    if pause.until is not None:
        moment = timezone.localtime(pause.until, ZoneInfo(conversation.workspace.timezone))
        text = _("Automations are paused here until %(time)s.") % {"time": format_day_time(moment, "MMMd")}
    return ConversationBanner(text, _("Resume automations"), reverse(RESUME, args=[conversation.uuid]))


RESUME = "app:conversation-resume-automations"


class ResumeAutomations(DashboardView):
    """Ends the pause of a conversation."""

    nav = "app:inbox"
    form_page = CONVERSATION

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        found = Conversation.objects.of(self.workspace).filter(uuid=uuid).first() if uuid else None
        if found is None:
            raise ConversationNotFound
        end_pause(conversation_id=found.pk, workspace_id=self.workspace.pk)
        return redirect(CONVERSATION, found.uuid)


urlpatterns = [
    path("inbox/<id:uuid>/resume-automations", ResumeAutomations.as_view(), name="conversation-resume-automations")
]
