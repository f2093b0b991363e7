"""Filters of the list of conversations."""

from typing import Any

from django.db.models import QuerySet

from config.api.filters import BooleanFilter, ChoiceFilter, FilterSet, UUIDFilter
from workspaces.conversations.models import Conversation


class ConversationFilterSet(FilterSet):
    class Meta:
        model = Conversation
        fields = ()

    status = ChoiceFilter(choices=Conversation.Status.choices, help_text="Only conversations of this status.")
    channel = UUIDFilter(field_name="channel__uuid", help_text="Only conversations on this channel.")
    contact = UUIDFilter(field_name="contact__uuid", help_text="Only conversations with this contact.")
    unread = BooleanFilter(method="keep_unread", help_text="Only those with something unread, or with nothing.")

    def keep_unread(self, rows: "QuerySet[Conversation]", name: str, value: bool) -> "QuerySet[Conversation]":
        unread: dict[str, Any] = {"unread_count__gt": 0} if value else {"unread_count": 0}
        return rows.filter(**unread)
