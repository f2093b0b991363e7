"""Filters of the list of message templates."""

from channelconnect.models import MessageTemplate
from config.api.filters import ChoiceFilter, FilterSet, TextFilter, UUIDFilter


class MessageTemplateFilterSet(FilterSet):
    channel = UUIDFilter(field_name="channel_uuid", help_text="Only templates of this channel's business account.")
    status = ChoiceFilter(choices=MessageTemplate.Status.choices, help_text="Only templates of this status.")
    name = TextFilter(help_text="Only templates of this name.")
    language = TextFilter(help_text="Only templates in this language, such as en_US.")
