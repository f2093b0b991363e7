"""What an agency writes about its webhook endpoints."""

from collections.abc import Iterable

from config.api.fields import BooleanField, CharField, ChoiceField, ListField
from config.api.serializers import Serializer
from webhooks.services import known_events

LONGEST_URL = 2_048
MOST_EVENTS = 100


class EndpointWords(Serializer):
    """Any event that some agency may subscribe to; `endpoint_words` takes those of one agency alone."""

    url = CharField(max_length=LONGEST_URL)
    events = ListField(child=ChoiceField(list(known_events())), max_length=MOST_EVENTS, allow_empty=False)
    description = CharField(max_length=200, required=False, allow_blank=True, allow_null=True)
    enabled = BooleanField(required=False)


class TestWords(Serializer):
    """Without an event, the endpoint's first one is sampled."""

    event = ChoiceField(list(known_events()), required=False, allow_null=True)


def endpoint_words(catalogue: Iterable[str]) -> type[EndpointWords]:
    """Give the words of an endpoint for an agency that may subscribe to these events."""

    class Accepted(EndpointWords):
        events = ListField(child=ChoiceField(list(catalogue)), max_length=MOST_EVENTS, allow_empty=False)

    return Accepted


def test_words(catalogue: Iterable[str]) -> type[TestWords]:
    """Give the words of a test for an agency that may subscribe to these events."""

    class Accepted(TestWords):
        event = ChoiceField(list(catalogue), required=False, allow_null=True)

    return Accepted
