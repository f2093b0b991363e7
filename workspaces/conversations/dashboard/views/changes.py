"""Actions on one conversation: mark as read, assign, close, snooze, opt its contact out."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from agency.models import User
from agency.pages.branding import in_page_language
from config.errors import DomainError
from workspaces.contacts.models import Contact
from workspaces.contacts.services import opt_in_contact, opt_out_contact
from workspaces.conversations.dashboard.snooze_times import read_snooze_time
from workspaces.conversations.dashboard.views.inbox import ONE, OneConversation
from workspaces.conversations.models import Conversation
from workspaces.conversations.services import (
    change_conversation,
    find_team_member,
    mark_read,
    mark_unread,
    snooze_conversation,
)
from workspaces.conversations.services.team_inbox.snoozing import SnoozeTimeRefused


class ChangeConversation(OneConversation):
    """Runs the action of a button. If a rule refuses it, shows the current page with the reason."""

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        conversation = self.find(uuid)
        try:
            self.change(conversation)
        except DomainError as error:
            return self.show(self.find(uuid), status=409, refusal=in_page_language(error.message))
        return redirect(ONE, conversation.uuid)

    def change(self, conversation: Conversation) -> Any:
        """Call the button's service. Each subclass has its own."""
        raise NotImplementedError


class ReadConversation(ChangeConversation):
    def change(self, conversation: Conversation) -> Any:
        return mark_read(conversation=conversation, now=timezone.now())


class UnreadConversation(ChangeConversation):
    def change(self, conversation: Conversation) -> Any:
        return mark_unread(conversation=conversation, now=timezone.now())


class AssignConversation(ChangeConversation):
    """Assigns the conversation, unless its assignee has changed since the form was shown (`seen`)."""

    keeps_form_data = True

    def change(self, conversation: Conversation) -> Any:
        now, to, seen = timezone.now(), self._chosen(), self.request.POST.get("seen", "")
        return change_conversation(conversation=conversation, now=now, assigned_to=to, if_assigned_to=seen)

    def _chosen(self) -> User | None:
        email = self.request.POST.get("assigned_to", "")
        return find_team_member(self.workspace, email) if email else None


class ConversationStatus(ChangeConversation):
    def change(self, conversation: Conversation) -> Any:
        is_closed = self.request.POST.get("status") == "closed"
        status = Conversation.Status.CLOSED if is_closed else Conversation.Status.OPEN
        return change_conversation(conversation=conversation, now=timezone.now(), status=status)


class SnoozeConversation(ChangeConversation):
    """Snoozes the conversation until a time in the workspace's time zone, or ends the snooze."""

    keeps_form_data = True

    def change(self, conversation: Conversation) -> Any:
        sent, now = self.request.POST, timezone.now()
        if sent.get("for") == "nothing":
            return snooze_conversation(conversation=conversation, until=None, now=now)
        until = read_snooze_time(sent.get("for", ""), sent.get("until", ""), now=now, zone=self.zone)
        if until is None:
            raise SnoozeTimeRefused
        return snooze_conversation(conversation=conversation, until=until, now=now)


class OptOut(ChangeConversation):
    """Opts the contact out as they told the team, or in again."""

    def change(self, conversation: Conversation) -> Any:
        if self.request.POST.get("opted_out") == "yes":
            source = Contact.OptOutSource.DASHBOARD
            return opt_out_contact(contact=conversation.contact, source=source, now=timezone.now())
        return opt_in_contact(contact=conversation.contact, now=timezone.now())
