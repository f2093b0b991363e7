"""Actions on one conversation or on many: mark as read, assign, close, snooze, opt the contact out."""

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agency.models import User
from agency.pages.branding import in_page_language
from config.api.requests import parse_uuid
from config.errors import DomainError
from workspaces.contacts.models import Contact
from workspaces.contacts.services import opt_in_contact, opt_out_contact
from workspaces.conversations.dashboard.inbox import LIST, ONE, ConversationDetail, InboxPage, read_snooze_time
from workspaces.conversations.models import Conversation
from workspaces.conversations.services import (
    change_conversation,
    find_team_member,
    mark_read,
    mark_unread,
    shown_conversations,
    snooze_conversation,
)
from workspaces.conversations.services.changing import SnoozeTimeRefused
from workspaces.conversations.services.composer_settings import set_enter_key
from workspaces.conversations.services.conversations import NotInTheTeam
from workspaces.conversations.services.threads import PAGE


class ChangeConversation(ConversationDetail):
    """Runs the action of a button. If a rule refuses it, shows the current page with the reason."""

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        conversation = self.find(uuid)
        try:
            self.change(conversation)
        except DomainError as error:
            return self.show(self.find(uuid), status=409, refusal=in_page_language(error.message))
        return redirect(ONE, conversation.uuid)

    def change(self, conversation: Conversation) -> object:
        """Call the button's service. Each subclass has its own."""
        raise NotImplementedError


class ReadConversation(ChangeConversation):
    def change(self, conversation: Conversation) -> object:
        return mark_read(conversation=conversation, now=timezone.now())


class UnreadConversation(ChangeConversation):
    def change(self, conversation: Conversation) -> object:
        return mark_unread(conversation=conversation, now=timezone.now())


class AssignConversation(ChangeConversation):
    """Assigns the conversation, unless its assignee has changed since the form was shown (`seen`)."""

    keeps_form_data = True

    def change(self, conversation: Conversation) -> object:
        now, to, seen = timezone.now(), self._chosen(), self.request.POST.get("seen", "")
        return change_conversation(conversation=conversation, now=now, assigned_to=to, if_assigned_to=seen)

    def _chosen(self) -> User | None:
        email = self.request.POST.get("assigned_to", "")
        return find_team_member(self.workspace, email) if email else None


class ConversationStatus(ChangeConversation):
    def change(self, conversation: Conversation) -> object:
        is_closed = self.request.POST.get("status") == "closed"
        status = Conversation.Status.CLOSED if is_closed else Conversation.Status.OPEN
        return change_conversation(conversation=conversation, now=timezone.now(), status=status)


class SnoozeConversation(ChangeConversation):
    """Snoozes the conversation until a time in the workspace's time zone, or ends the snooze."""

    keeps_form_data = True

    def change(self, conversation: Conversation) -> object:
        sent, now = self.request.POST, timezone.now()
        if sent.get("for") == "nothing":
            return snooze_conversation(conversation=conversation, until=None, now=now)
        until = read_snooze_time(sent.get("for", ""), sent.get("until", ""), now=now, zone=self.zone)
        if until is None:
            raise SnoozeTimeRefused
        return snooze_conversation(conversation=conversation, until=until, now=now)


class OptOut(ChangeConversation):
    """Opts the contact out as they told the team, or in again."""

    def change(self, conversation: Conversation) -> object:
        if self.request.POST.get("opted_out") == "yes":
            source = Contact.OptOutSource.DASHBOARD
            return opt_out_contact(contact=conversation.contact, source=source, now=timezone.now())
        return opt_in_contact(contact=conversation.contact, now=timezone.now())


class EnterKey(ChangeConversation):
    """Changes which key sends, for the person who presses the button."""

    def change(self, conversation: Conversation) -> object:
        return set_enter_key(user=self.user, sends=self.request.POST.get("enter") == "sends")


Change = Callable[[Conversation], object]


class ChangeConversations(InboxPage):
    """Marks the selected conversations as read, assigns or closes them. An assignment made meanwhile stays."""

    keeps_form_data = True
    form_page = LIST

    def post(self, request: HttpRequest) -> HttpResponse:
        change = self._changes().get(request.POST.get("do", ""))
        if change is None:
            return redirect(LIST)
        done, left = 0, 0
        for conversation in self._chosen():
            try:
                change(conversation)
                done += 1
            except NotInTheTeam:
                return self._refuse_role()
            except DomainError:
                left += 1
        self._show_result(done, left)
        return redirect(self._back())

    def _changes(self) -> dict[str, Change]:
        now, closed = timezone.now(), Conversation.Status.CLOSED
        return {
            "read": lambda one: mark_read(conversation=one, now=now),
            "assign": lambda one: change_conversation(
                conversation=one, now=now, assigned_to=self.user, if_assigned_to=self._seen(one)
            ),
            "close": lambda one: change_conversation(conversation=one, now=now, status=closed),
        }

    def _chosen(self) -> list[Conversation]:
        ids = filter(None, map(parse_uuid, self.request.POST.getlist("conversation")[:PAGE]))
        own = shown_conversations(Conversation.objects.of(self.workspace))
        return list(own.filter(uuid__in=list(ids)).order_by("pk"))

    def _seen(self, conversation: Conversation) -> str:
        return self.request.POST.get(f"seen-{conversation.uuid}", "")

    def _show_result(self, done: int, left: int) -> None:
        if done:
            said = ngettext("%(n)s conversation was changed.", "%(n)s conversations were changed.", done)
            messages.success(self.request, said % {"n": done})
        if left:
            said = _("Unchanged: %(n)s. Somebody else has changed them in the meantime.")
            messages.warning(self.request, said % {"n": left})

    def _back(self) -> str:
        asked, inbox = self.request.POST.get("next", ""), reverse(LIST)
        is_ours = asked.startswith(inbox) and url_has_allowed_host_and_scheme(asked, allowed_hosts=None)
        return asked if is_ours else inbox
