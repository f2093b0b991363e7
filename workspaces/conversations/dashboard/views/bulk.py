"""Changes many conversations of the list at once."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from config.api.requests import parse_uuid
from config.errors import DomainError
from workspaces.conversations.dashboard.views.inbox import LIST, InboxPage
from workspaces.conversations.models import Conversation
from workspaces.conversations.services import change_conversation, mark_read, shown_conversations
from workspaces.conversations.services.errors import NotInTheTeam
from workspaces.conversations.services.team_inbox.threads import PAGE

Change = Callable[[Conversation], Any]


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
        self._tell(done, left)
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

    def _tell(self, done: int, left: int) -> None:
        if done:
            said = ngettext("%(n)s conversation was changed.", "%(n)s conversations were changed.", done)
            messages.success(self.request, said % {"n": done})
        if left:
            said = _("%(n)s stayed as they are: somebody else has changed them meanwhile.")
            messages.warning(self.request, said % {"n": left})

    def _back(self) -> str:
        asked, inbox = self.request.POST.get("next", ""), reverse(LIST)
        is_ours = asked.startswith(inbox) and url_has_allowed_host_and_scheme(asked, allowed_hosts=None)
        return asked if is_ours else inbox
