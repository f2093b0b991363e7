"""Actions that write into a conversation: send an answer or template, retry a failed message, add a note."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _

from agency.pages.branding import in_page_language
from agency.pages.invalid_forms import mark_form_redisplayed
from agency.pages.pagination import with_id
from agency.pages.views import OUT_OF_DATE
from config.api.requests import parse_uuid
from config.errors import DomainError
from workspaces.conversations.dashboard.composer import Composer, composer_as_sent, composer_of
from workspaces.conversations.dashboard.views.inbox import ONE, OneConversation
from workspaces.conversations.models import Conversation, Message, SavedReply
from workspaces.conversations.models.conversations import LONGEST_NOTE
from workspaces.conversations.services import (
    BegunAs,
    Content,
    ConversationNotFound,
    add_note,
    filled_reply,
    send_message,
    send_message_again,
)
from workspaces.conversations.services.errors import BegunAsSomethingElse
from workspaces.media.services import StoredFile, add_media, store_file


class SendMessage(OneConversation):
    """Sends a message. If it is refused, shows the page again with the typed text."""

    creates = True
    keeps_form_data = True
    stored: StoredFile | None = None
    refusal: DomainError | None = None

    def prepare(self, request: HttpRequest, *args: Any, **ids: Any) -> None:
        """Store the uploaded file. A file that no message uses is removed later."""
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
            composer.error = in_page_language(error.message)
            return self.show(conversation, composer=composer, status=422, nonce=request.POST.get("nonce"))
        return redirect(ONE, conversation.uuid)

    def refuse_out_of_date(self, request: HttpRequest, **ids: Any) -> HttpResponse:
        """Show what was typed again."""
        conversation = self.find(ids["uuid"])
        composer = self._composer(conversation)
        composer.error = str(OUT_OF_DATE)
        return self.show(conversation, composer=composer, status=422)

    def _composer(self, conversation: Conversation) -> Composer:
        return composer_as_sent(conversation, self.request.POST, now=timezone.now())

    def _content(self, composer: Composer) -> Content:
        begun_as = self.request.POST.get("begun_as", "")
        if composer.template is not None:
            return replace(composer.template_content(), begun_as=begun_as)
        content = Content(text=self.request.POST.get("text", "").strip(), begun_as=begun_as)
        if self.stored is None:
            return content
        return replace(content, media=add_media(workspace=self.workspace, stored=self.stored, now=timezone.now()))


class InsertSavedReply(OneConversation):
    """Appends a saved reply to the typed text and sends nothing."""

    keeps_form_data = True

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        conversation = self.find(uuid)
        rows = SavedReply.objects.of(self.workspace).select_related("workspace")
        reply = with_id(rows, parse_uuid(request.POST.get("saved_reply", "")))
        composer = composer_of(conversation, now=timezone.now())
        composer.take(request.POST)
        if reply is not None:
            composer.text = " ".join(filter(None, (composer.text.strip(), filled_reply(reply, conversation.contact))))
        mark_form_redisplayed(request)
        return self.show(conversation, composer=composer)


class SendAgain(OneConversation):
    """Sends a failed message again."""

    creates = True

    def post(self, request: HttpRequest, uuid: UUID | None, message: UUID | None) -> HttpResponse:
        conversation = self.find(uuid)
        failed = with_id(Message.objects.filter(conversation=conversation), message)
        if failed is None:
            raise ConversationNotFound
        try:
            send_message_again(message=failed, by=self.by, now=timezone.now())
        except DomainError as error:
            said, nonce = in_page_language(error.message), request.POST.get("nonce")
            return self.show(conversation, status=409, refusal=said, nonce=nonce)
        return redirect(ONE, conversation.uuid)


class AddNote(OneConversation):
    """Adds a note, which contacts never see."""

    creates = True
    keeps_form_data = True

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        conversation = self.find(uuid)
        text = request.POST.get("text", "").replace("\0", "").strip()[:LONGEST_NOTE]
        if not text:
            return redirect(ONE, conversation.uuid)
        begun_as = request.POST.get("begun_as", "")
        try:
            add_note(conversation=conversation, text=text, by=self.by, now=timezone.now(), begun_as=begun_as)
        except BegunAsSomethingElse as error:
            return self._show_again(conversation, in_page_language(error.message))
        return self.done(_("The note was added."), ONE, conversation.uuid)

    def refuse_out_of_date(self, request: HttpRequest, **ids: Any) -> HttpResponse:
        """Show what was typed again."""
        conversation = self.find(ids["uuid"])
        composer = composer_of(conversation, now=timezone.now(), mode=BegunAs.NOTE)
        composer.note, composer.error = request.POST.get("text", ""), str(OUT_OF_DATE)
        return self.show(conversation, composer=composer, status=422)

    def _show_again(self, conversation: Conversation, refusal: str) -> HttpResponse:
        """Show the text in the form where it was begun, or as a note if no answer can be sent any more."""
        composer = composer_of(conversation, now=timezone.now())
        composer.take(self.request.POST)
        if composer.refusal or composer.mode != BegunAs.TEXT:
            composer.mode, composer.note = BegunAs.NOTE, composer.text
        composer.error = refusal
        return self.show(conversation, composer=composer, status=422, nonce=self.request.POST.get("nonce"))
