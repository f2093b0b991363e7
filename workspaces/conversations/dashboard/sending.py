"""Actions that write into a conversation: send, retry a failed message, add a note, start a new conversation."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _

from agency.pages.branding import in_page_language
from agency.pages.form_drafts import latest_form_draft, pop_form_draft
from agency.pages.invalid_forms import mark_form_redisplayed
from agency.pages.pagination import with_id
from agency.pages.views import OUT_OF_DATE
from config.api.requests import is_storable, parse_uuid
from config.db import like_pattern, name_key
from config.errors import DomainError
from workspaces.contacts.models import Contact
from workspaces.contacts.services import ContactNotFound
from workspaces.conversations.dashboard.composer import Composer, composer_as_sent, composer_of
from workspaces.conversations.dashboard.inbox import LIST, ONE, ConversationDetail
from workspaces.conversations.models import Conversation, Message, SavedReply
from workspaces.conversations.models.conversations import LONGEST_NOTE
from workspaces.conversations.services import (
    ComposerMode,
    Content,
    ConversationNotFound,
    add_note,
    filled_reply,
    reachable_channels,
    send_message,
    send_message_again,
    send_message_to_contact,
)
from workspaces.conversations.services.content import RULES
from workspaces.conversations.services.conversations import WrongComposerMode
from workspaces.media.services import StoredFile, add_media, store_file
from workspaces.subaccounts.dashboard.base import DashboardView
from workspaces.subaccounts.models import CHANNEL_NAMES, Channel


class SendMessage(ConversationDetail):
    """Sends a message. If it is refused, shows the page again with the typed text."""

    creates = True
    keeps_form_data = True
    stored: StoredFile | None = None
    refusal: DomainError | None = None

    def prepare(self, request: HttpRequest, *args: object, **ids: Any) -> None:
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

    def refuse_out_of_date(self, request: HttpRequest, **ids: UUID | None) -> HttpResponse:
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


class InsertSavedReply(ConversationDetail):
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


class SendAgain(ConversationDetail):
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


class AddNote(ConversationDetail):
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
        except WrongComposerMode as error:
            return self._show_again(conversation, in_page_language(error.message))
        return self.done(_("The note was added."), ONE, conversation.uuid)

    def refuse_out_of_date(self, request: HttpRequest, **ids: UUID | None) -> HttpResponse:
        """Show what was typed again."""
        conversation = self.find(ids["uuid"])
        composer = composer_of(conversation, now=timezone.now(), mode=ComposerMode.NOTE)
        composer.note, composer.error = request.POST.get("text", ""), str(OUT_OF_DATE)
        return self.show(conversation, composer=composer, status=422)

    def _show_again(self, conversation: Conversation, refusal: str) -> HttpResponse:
        """Show the text in the form where it was begun, or as a note if no answer can be sent any more."""
        composer = composer_of(conversation, now=timezone.now())
        composer.take(self.request.POST)
        if composer.refusal or composer.mode != ComposerMode.TEXT:
            composer.mode, composer.note = ComposerMode.NOTE, composer.text
        composer.error = refusal
        return self.show(conversation, composer=composer, status=422, nonce=self.request.POST.get("nonce"))


MOST_FOUND = 20
MOST_CHANNELS = 50
LONGEST_SEARCH = 100


class NewConversation(DashboardView):
    """Asks for the contact, then the channel, then the message. Each step has its own URL."""

    nav = LIST
    form_page = "app:conversation-new"
    creates = True
    keeps_form_data = True

    def get(self, request: HttpRequest) -> HttpResponse:
        contact = self._contact()
        if contact is None:
            return self._choose_contact()
        channels = self._channels(contact)
        channel = self._chosen(channels)
        if channel is None:
            kinds = [(one, CHANNEL_NAMES[one.platform]) for one in channels]
            return self.page("conversations/new.html", contact=contact, channels=kinds)
        there = Conversation.objects.of(self.workspace).filter(channel=channel, contact=contact).first()
        if there is not None:
            return redirect(ONE, there.uuid)
        return self._show(contact, channel, self._composer_again(contact, channel))

    def post(self, request: HttpRequest) -> HttpResponse:
        contact = self._contact()
        channel = self._chosen(self._channels(contact)) if contact else None
        if contact is None or channel is None:
            return redirect("app:conversation-new")
        composer = self._composer(contact, channel)
        composer.take(request.POST)
        content = composer.template_content() if composer.template else Content(text=composer.text.strip())
        try:
            message = send_message_to_contact(
                workspace=self.workspace,
                contact=contact,
                channel=channel,
                content=content,
                by=self.by,
                now=timezone.now(),
            )
        except DomainError as error:
            composer.error = in_page_language(error.message)
            nonce = request.POST.get("nonce")
            return self._show(contact, channel, composer, status=422, nonce=nonce)
        return redirect(ONE, message.conversation.uuid)

    def _choose_contact(self) -> HttpResponse:
        search = self.request.GET.get("search", "").strip()[:LONGEST_SEARCH]
        rows = Contact.objects.of(self.workspace)
        if search and is_storable(search):
            rows = rows.filter(search_key__like=like_pattern(name_key(search)))
        found = list(rows.newest_first()[:MOST_FOUND]) if is_storable(search) else []
        return self.page("conversations/new.html", search=search, found=found)

    def _contact(self) -> Contact | None:
        asked = self.request.GET.get("contact", "")
        if not asked:
            return None
        found = with_id(Contact.objects.of(self.workspace), parse_uuid(asked))
        if found is None:
            raise ContactNotFound
        return found

    def _channels(self, contact: Contact) -> list[Channel]:
        """Return the channels on which the contact can be reached."""
        active = Channel.objects.filter(
            workspace=self.workspace, status=Channel.Status.ACTIVE, platform__in=sorted(RULES)
        )
        return reachable_channels(contact, active.order_by("name", "pk")[:MOST_CHANNELS])

    def _chosen(self, channels: list[Channel]) -> Channel | None:
        asked = parse_uuid(self.request.GET.get("channel", ""))
        only = channels[0] if len(channels) == 1 and asked is None else None
        return next((one for one in channels if one.uuid == asked), only)

    def _composer(self, contact: Contact, channel: Channel) -> Composer:
        template = self.request.POST.get("template", "") or self.request.GET.get("template", "")
        unwritten = Conversation(workspace=self.workspace, channel=channel, contact=contact)
        return composer_of(unwritten, now=timezone.now(), mode=ComposerMode.TEMPLATE, template=template)

    def _composer_again(self, contact: Contact, channel: Channel) -> Composer:
        """Return the composer, with the text that was submitted for this contact after the session had ended."""
        kept = latest_form_draft(self.request)
        if kept is None or kept.sent_to != self.request.get_full_path():
            return self._composer(contact, channel)
        pop_form_draft(self.request)
        unwritten = Conversation(workspace=self.workspace, channel=channel, contact=contact)
        return composer_as_sent(unwritten, kept.data, now=timezone.now())

    def _show(self, contact: Contact, channel: Channel, composer: Composer, **more: Any) -> HttpResponse:
        more |= {"contact": contact, "channel": channel, "composer": composer}
        return self.page("conversations/new.html", **more)
