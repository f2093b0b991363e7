"""Filters of the lists of broadcasts and of their recipients."""

from broadcasts.models import Broadcast, Recipient
from config.api.filters import ChoiceFilter, FilterSet, UUIDFilter


class BroadcastFilterSet(FilterSet):
    status = ChoiceFilter(choices=Broadcast.Status.choices, help_text="Only broadcasts of this status, to the letter.")
    channel = UUIDFilter(field_name="channel__uuid", help_text="Only broadcasts on this channel.")


class RecipientFilterSet(FilterSet):
    status = ChoiceFilter(choices=Recipient.Status.choices, help_text="Only recipients of this status.")

    class Meta:
        model = Recipient
        fields = ()
