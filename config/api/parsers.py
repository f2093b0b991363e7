"""Reads a request's body, strict JSON or the one file of a multipart body, or refuses it."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import IO, Any, NoReturn
from wsgiref.types import WSGIEnvironment

from django.core.exceptions import TooManyFilesSent
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.http import HttpRequest, QueryDict
from django.http.multipartparser import MultiPartParser, MultiPartParserError
from django.utils.datastructures import MultiValueDict
from rest_framework.parsers import BaseParser

from config.api.errors import BadRequest, TooLarge, UnsupportedMedia
from config.api.responses import CONTENT_TYPE
from config.errors import InvalidInput
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


class SingleFileUploadHandler(FileUploadHandler):
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
            raise InvalidInput("The file's name must be more than dots and slashes.", field=self.field)
        return name


def read_upload(request: HttpRequest, rule: UploadRule) -> "MultiValueDict[str, Upload]":
    """Return the file by its field, or nothing if the body has no such file. Raises 400, 413, 415 or 422."""
    _check_headers(request, rule)
    handler = SingleFileUploadHandler(rule)

    def parse(meta: WSGIEnvironment, data: IO[bytes]) -> "tuple[QueryDict, MultiValueDict[str, UploadedFile[bytes]]]":
        return NamedFileParser(rule.field, meta, data, [handler], request.encoding).parse()

    request.parse_file_upload = parse  # type: ignore[assignment,method-assign]  # Django calls it for the files
    try:
        _ = request.FILES
    except TooManyFilesSent as error:
        raise InvalidInput("Send one file in a request.", field=rule.field) from error
    except MultiPartParserError as error:
        if str(error) == HEAD_IS_TOO_LONG:
            raise InvalidInput("The file's name is too long.", field=rule.field) from error
        raise BadRequest(f"The body is not valid {MULTIPART}.") from error
    return MultiValueDict({rule.field: [handler.found]} if handler.found else {})


def _check_headers(request: HttpRequest, rule: UploadRule) -> None:
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or len(length) > 18:
        raise BadRequest("The Content-Length header is not a number.")
    if not int(length):
        raise BadRequest(f"The body is empty; send the file as {MULTIPART}.")
    if int(length) > rule.most_body_bytes:
        raise rule.too_large()
    if request.META.get("HTTP_CONTENT_ENCODING", "").strip().lower() not in ("", "identity"):
        raise UnsupportedMedia("Send the body without a Content-Encoding.")
    if request.META.get("CONTENT_TYPE", "").partition(";")[0].strip().lower() != MULTIPART:
        raise UnsupportedMedia(f"Send the file as {MULTIPART}.")


MAX_DEPTH = 100
INTEGERS = range(-(2**63), 2**63)
# An integer of at most this many characters, sign included, is in range. Longer ones are checked.
SAFE_DIGITS = 18
# Strings and brackets. A string that never ends is taken to the end of the body; otherwise each quote in it would be
# looked at again.
MARKS = re.compile(rb'"(?:[^"\\]+|\\.)*+"?|[\[\]{}]', re.DOTALL)
QUOTE = ord('"')
OPENING = frozenset(b"[{")

NOT_JSON = "The body is not valid JSON."
TOO_DEEP = f"The body is nested deeper than {MAX_DEPTH} levels."


@dataclass(frozen=True, slots=True)
class OutOfRangeNumber:
    """Stands for a number that no column can hold. Every field refuses it; in an unknown field it is ignored."""

    digits: str

    @property
    def canonical(self) -> list[str]:
        return [self.digits]


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise BadRequest("The body repeats a key within an object.")
    return found


def _constant(name: str) -> NoReturn:
    raise BadRequest(f"{name} is not a JSON number.")


def _integer(text: str) -> int | OutOfRangeNumber:
    if len(text) <= SAFE_DIGITS:
        return int(text)
    number = int(text) if len(text) <= SAFE_DIGITS + 2 else None
    return number if number is not None and number in INTEGERS else OutOfRangeNumber(text)


def _float(text: str) -> float | OutOfRangeNumber:
    number = float(text)
    return OutOfRangeNumber(text) if number in (float("inf"), float("-inf")) else number


DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer, parse_float=_float)


def _refuse_depth(body: bytes) -> None:
    """Count brackets outside strings. A body with at most `MAX_DEPTH` opening brackets passes at once."""
    if body.count(b"[") + body.count(b"{") <= MAX_DEPTH:
        return
    depth = 0
    for found in MARKS.finditer(body):
        mark = body[found.start()]
        if mark == QUOTE:
            continue
        depth += 1 if mark in OPENING else -1
        if depth > MAX_DEPTH:
            raise BadRequest(TOO_DEEP)


def parse_object(body: bytes) -> dict[str, Any]:
    """Parse a JSON object from UTF-8 bytes.

    Raises `BadRequest` (400) for anything but one JSON object without repeated keys, NaN or deep nesting. NUL
    characters, lone surrogates and numbers beyond 64 bits (`OutOfRangeNumber`) pass, for the fields to refuse.
    """
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise BadRequest("The body is not valid UTF-8.") from error
    _refuse_depth(body)
    try:
        value = DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise BadRequest(NOT_JSON) from error
    if not isinstance(value, dict):
        raise BadRequest("The body must be a JSON object.")
    return value


def canonical_bytes(value: object) -> bytes:
    """Return a body as bytes that are the same for the same JSON, whatever the order of its keys.

    A number out of range and an uploaded file give the values to compare in `canonical`.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=lambda other: other.canonical).encode()


MOST_BYTES = 1024 * 1024
LENGTH = re.compile(r"[0-9]{1,18}")
PARAMETER = re.compile(r';\s*([\w!#$&^.+-]+)\s*=\s*("[^"]*"|[^\s;]*)\s*')
COMMON_TYPES = frozenset({CONTENT_TYPE, f"{CONTENT_TYPE}; charset=utf-8", f"{CONTENT_TYPE};charset=utf-8"})
UTF_8 = frozenset({"utf-8", "utf8"})


def _is_json_in_utf_8(content_type: str) -> bool:
    if content_type in COMMON_TYPES:
        return True
    media, semicolon, rest = content_type.partition(";")
    charsets = {
        value.strip('"').lower() for name, value in PARAMETER.findall(semicolon + rest) if name.lower() == "charset"
    }
    return media.strip().lower() == CONTENT_TYPE and charsets <= UTF_8


def _read_unmeasured(request: HttpRequest) -> bytes:
    """Return a body that came without a length: in chunks, or as HTTP/2 frames.

    Our own server measures such bodies before any view runs (`config/serving/bodies.py`). Another server may pass them
    as a stream that ends where the body does. A server that does neither would lose a body in chunks, so it is refused.
    """
    if request.META.get("wsgi.input_terminated"):
        body: bytes = request.META["wsgi.input"].read(MOST_BYTES + 1)
        return body
    if request.META.get("HTTP_TRANSFER_ENCODING"):
        raise BadRequest("This server cannot read a body that is sent in chunks.")
    return b""


def _body(request: HttpRequest) -> bytes:
    """Return the body, at most 1 MiB. A longer one is refused unread if its length is known."""
    given = request.META.get("CONTENT_LENGTH") or ""
    if not given:
        body = _read_unmeasured(request)
        if len(body) > MOST_BYTES:
            raise TooLarge
        return body
    if not LENGTH.fullmatch(given):
        raise BadRequest("The Content-Length header is not a number.")
    length = int(given)
    if length > MOST_BYTES:
        raise TooLarge
    measured = request.body if length else b""
    if len(measured) != length:
        raise BadRequest("The body is shorter than its Content-Length.")
    return measured


def _require_json(request: HttpRequest) -> None:
    if request.META.get("HTTP_CONTENT_ENCODING", "").strip().lower() not in ("", "identity"):
        raise UnsupportedMedia("Send the body without a Content-Encoding.")
    if not _is_json_in_utf_8(request.META.get("CONTENT_TYPE", "")):
        raise UnsupportedMedia


def read_object(request: HttpRequest, *, may_be_empty: bool) -> dict[str, Any]:
    """Return the JSON object in a request's body. An empty body is `{}` if it may be empty, else 400."""
    body = _body(request)
    if body:
        _require_json(request)
        return parse_object(body)
    if may_be_empty:
        return {}
    raise BadRequest("The body is empty; send a JSON object.")


class StrictJSONParser(BaseParser):
    """The same reader for views that use DRF's own parsing. The documents take the media type from it."""

    media_type = CONTENT_TYPE

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, object] | None = None
    ) -> dict[str, Any]:
        body = stream.read(MOST_BYTES + 1)
        if len(body) > MOST_BYTES:
            raise TooLarge
        return parse_object(body)
