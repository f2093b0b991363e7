"""The models of broadcasts."""

from broadcasts.models.broadcasts import (
    BilledCount,
    Broadcast,
    BroadcastCount,
    BroadcastQuerySet,
    Rate,
    RecipientChunk,
    Wave,
)
from broadcasts.models.failures import FailureStreak
from broadcasts.models.forecasts import AudienceForecast
from broadcasts.models.recipients import Click, Recipient, RecipientQuerySet, Stage

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
