"""The models of broadcasts."""

from broadcasts.models.broadcasts import (
    AudienceForecast,
    BilledCount,
    Broadcast,
    BroadcastCount,
    BroadcastQuerySet,
    FailureStreak,
    Rate,
    RecipientChunk,
    Wave,
)
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
