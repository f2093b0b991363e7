"""Uploaded files, kept in memory up to a bound: nobody fills a disk by sending forms."""

from io import BytesIO
from typing import Any

from django.core.files.uploadedfile import InMemoryUploadedFile
from django.core.files.uploadhandler import FileUploadHandler

from agency.services.pictures import MOST_BYTES


class BoundedUpload(FileUploadHandler):
    """Keeps a file of up to 1 MiB; of a larger one only its size, so that the form can say what is wrong."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self._kept = BytesIO()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        if start + len(raw_data) <= MOST_BYTES:
            self._kept.write(raw_data)

    def file_complete(self, file_size: int) -> InMemoryUploadedFile:
        kept = self._kept if file_size <= MOST_BYTES else BytesIO()
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
