"""Senders and dispatchers at work beside the test, a number to send from, and receivers on this machine."""

from tests.channelconnect.conftest import meta, provider
from tests.channelconnect.sending.conftest import channel, start_sender
from tests.config.metrics.conftest import scrape
from tests.webhooks.conftest import start_dispatcher, start_receiver

__all__ = ["channel", "meta", "provider", "scrape", "start_dispatcher", "start_receiver", "start_sender"]
