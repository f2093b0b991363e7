"""Senders at work beside the test, and a number to send from."""

from tests.channelconnect.conftest import meta, provider
from tests.channelconnect.sending.conftest import _long_waits, channel, start_sender

__all__ = ["_long_waits", "channel", "meta", "provider", "start_sender"]
