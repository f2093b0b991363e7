"""What an agency writes about its webhook endpoints."""

from collections.abc import Iterable

from config.api.fields import Choice, Flag, Items, Text
from config.api.words import Words
from webhooks.services import known_events

LONGEST_URL = 2_048
MOST_EVENTS = 100


class EndpointWords(Words):
    """The URL of an endpoint, and the events that are sent to it."""

    # Any event that some agency may subscribe to; `endpoint_words` takes those of one agency alone.
    url = Text(max_length=LONGEST_URL)
    events = Items(child=Choice(list(known_events())), max_length=MOST_EVENTS, allow_empty=False)
    description = Text(max_length=200, required=False, allow_blank=True, allow_null=True)
    enabled = Flag(required=False)

    class Meta:
        ref_name = "NewWebhook"


class TestWords(Words):
    """The event to sample; without one, the first that the endpoint is subscribed to."""

    event = Choice(list(known_events()), required=False, allow_null=True)

    class Meta:
        ref_name = "WebhookTest"


def endpoint_words(catalogue: Iterable[str]) -> type[EndpointWords]:
    """Give the words of an endpoint for an agency that may subscribe to these events."""

    class Accepted(EndpointWords):
        events = Items(child=Choice(list(catalogue)), max_length=MOST_EVENTS, allow_empty=False)

    return Accepted


def test_words(catalogue: Iterable[str]) -> type[TestWords]:
    """Give the words of a test for an agency that may subscribe to these events."""

    class Accepted(TestWords):
        event = Choice(list(catalogue), required=False, allow_null=True)

    return Accepted
