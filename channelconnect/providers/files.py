"""Files of messages: received files are downloaded, and files to send are uploaded to the provider."""

import base64
import binascii
from ipaddress import ip_network
from typing import IO, Final
from urllib.parse import urlsplit

import orjson
from django.conf import settings as project

from channelconnect.providers.graph import Graph, ProviderFault
from channelconnect.providers.messages import proof_of
from channelconnect.providers.parsing import ident, text
from channelconnect.providers.settings import provider_settings
from channelconnect.providers.transport import CallTimeouts, NoReply, Request, Transport, UploadedFile
from config.http.client import download
from config.http.guard import URLRefused, VettedTarget, check_url
from config.http.resolver import LookupFailed, system_lookup

MOST_BYTES: Final = 100 * 1024 * 1024
SECONDS: Final = 45.0
LIMITS: Final = CallTimeouts(operation=15.0)
UPLOAD_LIMITS: Final = CallTimeouts(read=20.0, whole=40.0, attempts=1)
REFUSALS: Final = 300
# Meta's hosts for files. Only the first one, and the Graph API's own host, get the token.
TOKEN_HOST: Final = "lookaside.fbsbx.com"  # noqa: S105  # no secret
SUFFIXES: Final = (".fbsbx.com", ".fbcdn.net", ".cdninstagram.com")
# The installation configures the Graph API's address, so that host may have any IP address.
ANYWHERE: Final = (ip_network("0.0.0.0/0"), ip_network("::/0"))
GONE: Final = frozenset({404, 410})


class FileFault(Exception):
    """A file could not be fetched. `code` says why; the flags say whether it is gone or another try is useless."""

    def __init__(self, code: str, *, is_gone: bool = False, is_final: bool = False) -> None:
        super().__init__(code)
        self.code, self.is_gone, self.is_final = code, is_gone, is_final


def fetch_file(*, platform: str, reference: str, sha256: str, token: str, into: IO[bytes]) -> None:
    """Fetch a file: from WhatsApp by its id, from the other networks by its address. Raises `FileFault`."""
    url, told = _look_up(reference, token) if platform == "whatsapp" else (reference, "")
    vetted = _vetted(url)
    headers = (f"Authorization: Bearer {token}",) if vetted.target.host in (TOKEN_HOST, _own_host()) else ()
    found = download(vetted, into, headers=headers, most_bytes=MOST_BYTES, seconds=SECONDS)
    if found.error is not None:
        is_gone = found.status in GONE and platform != "whatsapp"
        is_final = found.error in ("too_large", "http_3xx") or is_gone
        raise FileFault(found.error, is_gone=is_gone, is_final=is_final)
    expected = told or sha256
    if expected and not _is_digest(expected, found.sha256):
        raise FileFault("wrong_checksum")


def upload_file(*, number_id: str, token: str, file: UploadedFile) -> str:
    """Upload a file to WhatsApp for a number. Returns the id that stands for it in messages. Raises `FileFault`."""
    settings = provider_settings()
    request = Request(
        method="POST",
        url=f"{settings.graph_url}/{settings.version}/{number_id}/media",
        params={"appsecret_proof": proof_of(settings.app_secret, token)},
        form={"messaging_product": "whatsapp", "type": file[2]},
        files={"file": file},
        token=token,
    )
    try:
        reply = Transport(UPLOAD_LIMITS).send(request, seconds=UPLOAD_LIMITS.whole)
        media_id = ident(orjson.loads(reply.body).get("id"))
    except (NoReply, orjson.JSONDecodeError, AttributeError) as error:
        raise FileFault("provider_unavailable") from error
    if reply.status >= REFUSALS or not media_id:
        raise FileFault("provider_refused")
    return media_id


def _look_up(media_id: str, token: str) -> tuple[str, str]:
    """Look up a file's address, which lives for minutes, and its checksum."""
    if not ident(media_id):
        raise FileFault("no_media_id", is_final=True)
    try:
        answer = Graph(provider_settings(), Transport(LIMITS)).read(media_id, token=token)
    except ProviderFault as fault:
        is_gone = fault.log.get("provider_code") == 100 or fault.log.get("http_status") == 404
        raise FileFault(fault.code, is_gone=is_gone, is_final=is_gone) from None
    return text(answer.get("url"), 4_096), text(answer.get("sha256"))


def _vetted(url: str) -> VettedTarget:
    """Check that an address is one of Meta's, or on exactly the host that is configured as the Graph API."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        is_own = f"{parts.scheme}://{parts.netloc}".lower() == project.META_GRAPH_URL.rstrip("/").lower()
        if not is_own and (parts.scheme != "https" or not host.endswith(SUFFIXES)):
            raise FileFault("foreign_host", is_final=True)
        return check_url(url, allowed=ANYWHERE if is_own else (), resolve=system_lookup)
    except (URLRefused, ValueError):
        raise FileFault("foreign_host", is_final=True) from None
    except LookupFailed:
        raise FileFault("dns") from None


def _own_host() -> str:
    return (urlsplit(project.META_GRAPH_URL).hostname or "").lower()


def _is_digest(told: str, found: bytes) -> bool:
    """Compare a digest with a checksum in hexadecimal digits or in base64."""
    if told.lower() == found.hex():
        return True
    try:
        return base64.b64decode(told, validate=True) == found
    except (binascii.Error, ValueError):
        return False
