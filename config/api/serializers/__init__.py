"""Serializers: the one description of what a resource reads, takes, is documented and sent as."""

from config.api.serializers.base import Serializer
from config.api.serializers.confirmations import DeletedSerializer
from config.api.serializers.related import RelatedField

__all__ = ["DeletedSerializer", "RelatedField", "Serializer"]
