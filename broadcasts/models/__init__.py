"""The models of broadcasts."""

from broadcasts.models.broadcasts import Broadcast, BroadcastQuerySet, Wave
from broadcasts.models.chunks import RecipientChunk
from broadcasts.models.clicks import Click
from broadcasts.models.costs import BilledCount, Rate
from broadcasts.models.counts import BroadcastCount
from broadcasts.models.failures import FailureStreak
from broadcasts.models.forecasts import AudienceForecast
from broadcasts.models.recipients import Recipient, RecipientQuerySet, Stage

__all__ = [
    "AudienceForecast",
    "BilledCount",
    "Broadcast",
    "BroadcastCount",
    "BroadcastQuerySet",
    "Click",
    "FailureStreak",
    "Rate",
    "Recipient",
    "RecipientChunk",
    "RecipientQuerySet",
    "Stage",
    "Wave",
]
