"""A field for files of multipart bodies."""

from typing import Any

from rest_framework import serializers

from config.api.fields.base import Field
from config.api.requests.multipart import Upload


class UploadField(Field, serializers.FileField):
    """An uploaded file, as `read_upload` returns it."""

    default_error_messages = {"invalid": "{subject} must be a file."}

    def to_internal_value(self, data: Any) -> Upload:
        if not isinstance(data, Upload):
            self.fail("invalid")
        return data
