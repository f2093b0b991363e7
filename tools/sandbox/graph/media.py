"""Uploads, look-ups and fetches of files."""

import base64
import secrets
import time
from typing import Final

from tools.sandbox.control.files import File
from tools.sandbox.graph.errors import Refused
from tools.sandbox.graph.listing import visible_number
from tools.sandbox.graph.sending_errors import refusal
from tools.sandbox.graph.tokens import Token
from tools.sandbox.http_messages import Request, Response, json_response, redirect
from tools.sandbox.state import SandboxState

URL_SECONDS: Final = 300.0
LIMITS: Final = {"image": 5 << 20, "video": 16 << 20, "audio": 16 << 20, "application": 100 << 20, "text": 100 << 20}
SLOW_SECONDS: Final = 2.0


def upload(state: SandboxState, request: Request, token: Token, key: str) -> Response:
    visible_number(token, key)
    file = request.files.get("file")
    if request.text("messaging_product") != "whatsapp" or file is None:
        raise Refused("bad_parameter")
    filename, content_type, content = file
    content_type = request.text("type") or content_type
    most = LIMITS.get(content_type.partition("/")[0])
    if most is None or len(content) > most:
        return refusal("131053", "The file is too large or of a type that is not taken.")
    media_id = str(secrets.randbelow(10**15) + 10**15)
    with state.media.lock:
        state.media.uploads[media_id] = File(content=content, content_type=content_type, filename=filename)
    return json_response({"id": media_id})


def look_up(state: SandboxState, request: Request, token: Token, key: str) -> Response:
    """Answer with a file's address, which works for five minutes."""
    file = state.media.received.get(key) or state.media.uploads.get(key)
    if file is None or file.fault == "gone":
        raise Refused("gone")
    secret = secrets.token_urlsafe(12)
    with state.media.lock:
        file.urls[secret] = 0.0 if file.fault == "expired" else time.time() + URL_SECONDS
    answer = {
        "messaging_product": "whatsapp",
        "url": f"{state.own_url}/media-files/{key}/{secret}",
        "mime_type": file.content_type,
        "sha256": base64.b64decode(file.sha256).hex(),
        "file_size": file.size or len(file.content),
        "id": key,
    }
    return json_response(answer)


def fetch(state: SandboxState, request: Request) -> Response:
    """Give a file. An address of WhatsApp needs a token; an address of a Page (`/cdn`) is enough by itself."""
    _, _, key, part = request.path.split("/")
    file = state.media.received.get(key) or state.media.uploads.get(key)
    with state.media.lock:
        state.media.fetches.append(key)
    if file is None or (part != "cdn" and (file.urls.get(part, 0.0) < time.time() or not request.token)):
        return Response(404, b"", {}, "text/plain")
    if file.fault in ("expired", "gone"):
        return Response(404, b"", {}, "text/plain")
    if file.fault == "redirect":
        return redirect("http://169.254.169.254/latest/meta-data/")
    if file.fault == "slow":
        state.closing.wait(SLOW_SECONDS)
    kind = "text/html" if file.fault == "false-type" else file.content_type
    return Response(200, file.whole, {}, kind)
