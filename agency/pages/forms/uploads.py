"""Uploaded files, kept in memory up to a bound, so that forms cannot fill a disk."""

from io import BytesIO
from typing import Any

from django.core.files.uploadedfile import InMemoryUploadedFile
from django.core.files.uploadhandler import FileUploadHandler

from agency.services.pictures import MOST_BYTES
from config.request_bodies import body_rules


class BoundedUpload(FileUploadHandler):
    """Keeps a file of up to 1 MiB, or of its page's own bound; of a larger file it keeps only the size.

    The form can then say what is wrong.
    """

    def handle_raw_input(self, input_data: Any, META: Any, *args: Any, **options: Any) -> None:  # noqa: N803  # Django's
        """Look up how large a file this address accepts."""
        rule = body_rules.of(META.get("PATH_INFO", ""))
        self._most_bytes = MOST_BYTES if rule is body_rules.default else rule.most_bytes

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self._kept = BytesIO()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        if start + len(raw_data) <= self._most_bytes:
            self._kept.write(raw_data)

    def file_complete(self, file_size: int) -> InMemoryUploadedFile:
        kept = self._kept if file_size <= self._most_bytes else BytesIO()
        kept.seek(0)
        return InMemoryUploadedFile(
            file=kept,
            field_name=self.field_name,
            name=self.file_name,
            content_type=self.content_type,
            size=file_size,
            charset=self.charset,
            content_type_extra=self.content_type_extra,
        )
