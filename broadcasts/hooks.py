"""What broadcasts add elsewhere."""

from broadcasts.sending.source import BroadcastRecipients
from channelconnect.sending.sources import message_sources

message_sources.add(BroadcastRecipients())
