"""The dashboard page that starts a conversation with a contact."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from agency.pages.branding import in_page_language
from agency.pages.form_drafts import latest_form_draft, pop_form_draft
from agency.pages.pagination import with_id
from config.api.requests import is_storable, parse_uuid
from config.db import like_pattern, name_key
from config.errors import DomainError
from workspaces.contacts.models import Contact
from workspaces.contacts.services import ContactNotFound
from workspaces.conversations.dashboard.composer import Composer, composer_as_sent, composer_of
from workspaces.conversations.dashboard.views.inbox import LIST, ONE
from workspaces.conversations.models import Conversation
from workspaces.conversations.services import BegunAs, Content, reachable_channels, send_message_to_contact
from workspaces.conversations.services.outbound.content import RULES
from workspaces.subaccounts.dashboard.base import DashboardView
from workspaces.subaccounts.models import CHANNEL_NAMES, Channel

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
        return composer_of(unwritten, now=timezone.now(), mode=BegunAs.TEMPLATE, template=template)

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
