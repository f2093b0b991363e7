"""The answer when nothing is left to show."""

from config.api.fields import BooleanField
from config.api.serializers.base import Serializer


class DeletedSerializer(Serializer):
    """Confirmation."""

    deleted = BooleanField(example=True)
