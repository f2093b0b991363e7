"""Serializers: each describes once what a resource reads, accepts, documents and sends."""

from config.api.serializers.base import Serializer
from config.api.serializers.confirmations import DeletedSerializer
from config.api.serializers.related import RelatedField

__all__ = ["DeletedSerializer", "RelatedField", "Serializer"]
