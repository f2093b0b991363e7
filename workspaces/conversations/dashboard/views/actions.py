"""What is done with a conversation: answering, reading, assigning, closing, notes for colleagues."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _

from config.errors import DomainError
from workspaces.conversations.dashboard.composer import Composer, composer_of, template_content
from workspaces.conversations.dashboard.views.inbox import ONE, OneConversation
from workspaces.conversations.models import Conversation
from workspaces.conversations.services import (
    Content,
    add_note,
    mark_conversation_read,
    mark_conversation_unread,
    send_message,
    update_conversation,
)
from workspaces.media.models import Media
from workspaces.media.services import store_media

MOST_PARAMETERS = 50


class SendMessage(OneConversation):
    """Sends what was written; a refusal shows the page again with it."""

    creates = True

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        conversation = self.find(uuid)
        composer = self._composer(conversation)
        try:
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
        file = self.request.FILES.get("file")
        if file is None:
            return Content(text=composer.text.strip())
        media = store_media(
            workspace=self.workspace,
            file=file,
            filename=file.name or "",
            source=Media.Source.UPLOADED,
            now=timezone.now(),
        )
        return Content(text=composer.text.strip(), media=media)


class ReadConversation(OneConversation):
    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        conversation = self.find(uuid)
        mark_conversation_read(conversation=conversation, by=self.by, now=timezone.now())
        return redirect(ONE, conversation.uuid)


class UnreadConversation(OneConversation):
    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        conversation = self.find(uuid)
        mark_conversation_unread(conversation=conversation, by=self.by, now=timezone.now())
        return redirect(ONE, conversation.uuid)


class AssignConversation(OneConversation):
    """Assigns it, unless somebody else has meanwhile: the form says whom it showed."""

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        conversation = self.find(uuid)
        update_conversation(
            conversation=conversation,
            by=self.by,
            now=timezone.now(),
            assigned_to=request.POST.get("assigned_to") or None,
            if_assigned_to=request.POST.get("seen") or None,
        )
        return redirect(ONE, conversation.uuid)


class ConversationStatus(OneConversation):
    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        conversation = self.find(uuid)
        status = Conversation.Status.CLOSED if request.POST.get("status") == "closed" else Conversation.Status.OPEN
        update_conversation(conversation=conversation, by=self.by, now=timezone.now(), status=status)
        return redirect(ONE, conversation.uuid)


class AddNote(OneConversation):
    """A note that only colleagues see."""

    creates = True

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        conversation = self.find(uuid)
        add_note(conversation=conversation, text=request.POST.get("text", ""), by=self.by, now=timezone.now())
        return self.done(_("The note was added."), ONE, conversation.uuid)
