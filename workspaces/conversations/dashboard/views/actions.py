"""What is done with a conversation: answering, reading, assigning, closing, notes for colleagues."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _

from agency.models import User
from config.errors import DomainError
from workspaces.conversations.dashboard.composer import Composer, composer_of, template_content
from workspaces.conversations.dashboard.views.inbox import ONE, OneConversation
from workspaces.conversations.models import Conversation
from workspaces.conversations.models.conversations import LONGEST_NOTE
from workspaces.conversations.services import (
    Content,
    add_note,
    change_conversation,
    find_team_member,
    mark_read,
    mark_unread,
    send_message,
)
from workspaces.media.services import StoredFile, add_media, store_file

MOST_PARAMETERS = 50


class SendMessage(OneConversation):
    """Sends what was written; a refusal shows the page again with it."""

    creates = True
    stored: StoredFile | None = None
    refusal: DomainError | None = None

    def prepare(self, request: HttpRequest, *args: Any, **ids: Any) -> None:
        """Put the file into the storage; one that no message names is removed again later."""
        file = request.FILES.get("file")
        if file is None:
            return
        self.find(ids["uuid"])
        try:
            self.stored = store_file(workspace=self.workspace, file=file, filename=file.name or "", now=timezone.now())
        except DomainError as error:
            self.refusal = error

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        conversation = self.find(uuid)
        composer = self._composer(conversation)
        try:
            if self.refusal:
                raise self.refusal
            send_message(conversation=conversation, content=self._content(composer), by=self.by, now=timezone.now())
        except DomainError as error:
            composer.error = str(error.message)
            return self.show(conversation, composer=composer, status=422, nonce=request.POST.get("nonce"))
        return redirect(ONE, conversation.uuid)

    def _composer(self, conversation: Conversation) -> Composer:
        sent = self.request.POST
        mode = "template" if "template" in sent else ""
        composer = composer_of(conversation, now=timezone.now(), mode=mode, template=sent.get("template", ""))
        composer.text = sent.get("text", "")
        composer.values = {number: sent.get(f"parameter-{number}", "") for number in range(MOST_PARAMETERS)}
        return composer

    def _content(self, composer: Composer) -> Content:
        if composer.template is not None:
            values = [composer.values[number].strip() for number in range(len(composer.template.parameters))]
            return template_content(composer.template, values)
        if self.stored is None:
            return Content(text=composer.text.strip())
        media = add_media(workspace=self.workspace, stored=self.stored, now=timezone.now())
        return Content(text=composer.text.strip(), media=media)


class ReadConversation(OneConversation):
    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        conversation = self.find(uuid)
        mark_read(conversation=conversation, now=timezone.now())
        return redirect(ONE, conversation.uuid)


class UnreadConversation(OneConversation):
    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        conversation = self.find(uuid)
        mark_unread(conversation=conversation, now=timezone.now())
        return redirect(ONE, conversation.uuid)


class AssignConversation(OneConversation):
    """Assigns it, unless somebody else has meanwhile: the form says whom it showed."""

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        conversation = self.find(uuid)
        change_conversation(
            conversation=conversation,
            now=timezone.now(),
            assigned_to=self._member("assigned_to"),
            if_assigned_to=self._member("seen"),
        )
        return redirect(ONE, conversation.uuid)

    def _member(self, field: str) -> User | None:
        email = self.request.POST.get(field, "")
        return find_team_member(self.workspace, email) if email else None


class ConversationStatus(OneConversation):
    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        conversation = self.find(uuid)
        status = Conversation.Status.CLOSED if request.POST.get("status") == "closed" else Conversation.Status.OPEN
        change_conversation(conversation=conversation, now=timezone.now(), status=status)
        return redirect(ONE, conversation.uuid)


class AddNote(OneConversation):
    """A note that only colleagues see."""

    creates = True

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        conversation = self.find(uuid)
        text = request.POST.get("text", "").replace("\0", "").strip()[:LONGEST_NOTE]
        if not text:
            return redirect(ONE, conversation.uuid)
        add_note(conversation=conversation, text=text, by=self.by, now=timezone.now())
        return self.done(_("The note was added."), ONE, conversation.uuid)
