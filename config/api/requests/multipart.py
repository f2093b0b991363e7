"""Reads the one file of a multipart body piece by piece into a temporary file, or refuses it."""

import hashlib
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from django.core.exceptions import TooManyFilesSent
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.http import HttpRequest
from django.http.multipartparser import MultiPartParser, MultiPartParserError
from django.utils.datastructures import MultiValueDict

from config.api.errors.refusals import Malformed, TooLarge, UnsupportedMedia
from config.errors import Invalid
from config.request_bodies import MIB

MULTIPART = "multipart/form-data"
# The parts' headers and small fields may add this much to the file.
MOST_AROUND_BYTES = MIB
IN_MEMORY_BYTES = 256 * 1024
# Django's message for a part whose headers, which include the file's name, are longer than 1 KiB.
HEAD_IS_TOO_LONG = "Request max total header size exceeded."


@dataclass(frozen=True, slots=True)
class UploadRule:
    """A multipart/form-data body. Its field `field` is a file of at most `most_bytes` bytes."""

    field: str
    most_bytes: int

    @property
    def most_body_bytes(self) -> int:
        return self.most_bytes + MOST_AROUND_BYTES

    def too_large(self) -> TooLarge:
        return TooLarge(f"The file is larger than {self.most_bytes // MIB} MiB.")


@dataclass(frozen=True, slots=True)
class Upload:
    """An uploaded file in a temporary file. `filename` is the name that the sender wrote."""

    file: IO[bytes]
    filename: str
    size: int
    sha256: bytes

    @property
    def canonical(self) -> list[str]:
        """The values by which two uploads are compared; see `canonical_bytes`."""
        return [self.filename, self.sha256.hex()]

    def close(self) -> None:
        self.file.close()


class OneFile(FileUploadHandler):
    """Keeps the file of one field, in memory while it is small. Files of other fields are skipped."""

    def __init__(self, rule: UploadRule) -> None:
        super().__init__()
        self.rule = rule
        self.found: Upload | None = None

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        if self.field_name != self.rule.field or self.found:
            raise SkipFile
        self._file: IO[bytes] = SpooledTemporaryFile(IN_MEMORY_BYTES)  # noqa: SIM115  # the request closes it
        self._digest = hashlib.sha256()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        if start + len(raw_data) > self.rule.most_bytes:
            self._file.close()
            raise self.rule.too_large()
        self._digest.update(raw_data)
        self._file.write(raw_data)

    def file_complete(self, file_size: int) -> "UploadedFile[bytes]":
        self.found = Upload(self._file, self.file_name or "", file_size, self._digest.digest())
        return UploadedFile(self._file, self.file_name, size=file_size)  # which the request closes when it ends


class NamedFileParser(MultiPartParser):
    """Django's parser skips a file without a usable name. This one refuses the file."""

    def __init__(self, field: str, *args: Any) -> None:
        super().__init__(*args)
        self.field = field

    def sanitize_file_name(self, file_name: str) -> str | None:
        name = super().sanitize_file_name(file_name)
        if not name:
            raise Invalid("The file's name must be more than dots and slashes.", field=self.field)
        return name


def read_upload(request: HttpRequest, rule: UploadRule) -> "MultiValueDict[str, Upload]":
    """Return the file by its field, or nothing if the body has no such file. Raises 400, 413, 415 or 422."""
    _check_headers(request, rule)
    handler = OneFile(rule)

    def parse(meta: Any, data: Any) -> Any:
        return NamedFileParser(rule.field, meta, data, [handler], request.encoding).parse()

    request.parse_file_upload = parse  # type: ignore[assignment,method-assign]  # Django calls it for the files
    try:
        _ = request.FILES
    except TooManyFilesSent as error:
        raise Invalid("Send one file in a request.", field=rule.field) from error
    except MultiPartParserError as error:
        if str(error) == HEAD_IS_TOO_LONG:
            raise Invalid("The file's name is too long.", field=rule.field) from error
        raise Malformed(f"The body is not valid {MULTIPART}.") from error
    return MultiValueDict({rule.field: [handler.found]} if handler.found else {})


def _check_headers(request: HttpRequest, rule: UploadRule) -> None:
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or len(length) > 18:
        raise Malformed("The Content-Length header is not a number.")
    if not int(length):
        raise Malformed(f"The body is empty; send the file as {MULTIPART}.")
    if int(length) > rule.most_body_bytes:
        raise rule.too_large()
    if request.META.get("HTTP_CONTENT_ENCODING", "").strip().lower() not in ("", "identity"):
        raise UnsupportedMedia("Send the body without a Content-Encoding.")
    if request.META.get("CONTENT_TYPE", "").partition(";")[0].strip().lower() != MULTIPART:
        raise UnsupportedMedia(f"Send the file as {MULTIPART}.")
