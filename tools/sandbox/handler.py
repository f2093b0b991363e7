"""Reads requests from a connection and writes responses to it, broken ones included."""

import contextlib
import json
import socket
import time
from http.server import BaseHTTPRequestHandler
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from tools.sandbox import ai
from tools.sandbox.consent import dialog, html
from tools.sandbox.control.callers import refusal
from tools.sandbox.control.control import PREFIX, control
from tools.sandbox.control.faults import AFTER_CALL, SLOW, Fault
from tools.sandbox.control.mutations import MUTATIONS, mutated
from tools.sandbox.graph import media
from tools.sandbox.graph.errors import ERRORS, error_response
from tools.sandbox.graph.routes import VERSION, Route, answered, find
from tools.sandbox.http_messages import Request, Response, html_response, json_response, parts_of, redirect
from tools.sandbox.state import SandboxState

LARGEST_BODY: Final = 1024 * 1024
LARGEST_UPLOAD: Final = 101 * 1024 * 1024
MULTIPART: Final = "multipart/form-data"
FILES: Final = "/media-files/"
ENDING: Final = "X-Sandbox-Ending"
HANG_SECONDS: Final = 60.0
DIALOG: Final = "/dialog/oauth"
DROP_SECONDS: Final = 0.05
BROKEN: Final[dict[str, Response]] = {
    "429": json_response({}, 429),
    "500": json_response({"error": {"message": "An unknown error occurred", "type": "OAuthException", "code": 1}}, 500),
    "503": Response(503, b"Service Unavailable", {}, "text/plain"),
    "html": html_response(html.document("Sorry, something went wrong.")),
    "html_404": html_response(html.document("Page not found"), 404),
    "redirect": redirect("/v26.0/me/accounts"),
    "garbage": Response(200, b'{"access_token": "EAAS'),
    "not_an_object": json_response(["EAAS"]),
    "huge": Response(200, b'{"data": "' + b"x" * (3 * 1024 * 1024) + b'"}'),
}


class SandboxHandler(BaseHTTPRequestHandler):
    """One connection; `state` is set by the server."""

    protocol_version = "HTTP/1.1"
    server_version = "sandbox"
    disable_nagle_algorithm = True
    timeout = 120
    state: SandboxState

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def do_HEAD(self) -> None:
        self._serve()

    def _serve(self) -> None:
        with contextlib.suppress(ConnectionError, TimeoutError):  # the caller has gone
            request = self._read_request()
            if request is None:
                self._write(error_response("bad_parameter"))
            elif request.path.startswith(PREFIX):
                self._write(self._control(request))
            elif request.path == "/":
                self._write(html_response(_front_page()))
            elif request.path.startswith(ai.PREFIX):
                self._write(ai.answer(self.state, request, self.headers.get("x-api-key", "") or self._token()))
            elif request.path.startswith(FILES):
                self._write(media.fetch(self.state, request))
            elif DIALOG in request.path:
                self._write(self._dialog(request))
            else:
                self._graph(request)

    def _control(self, request: Request) -> Response:
        """Answer the control endpoint. It requires JSON, which a foreign page cannot send without a preflight."""
        address, port = self.connection.getsockname()[:2]
        why = refusal(self.headers, peer=self.client_address[0], address=address, port=port)
        if why:
            return json_response({"error": why}, 403)
        is_json = self.headers.get_content_type() == "application/json"
        if request.method == "POST" and not is_json:
            return json_response({"error": "Send application/json."}, 415)
        return control(self.state, request)

    def _dialog(self, request: Request) -> Response:
        path = VERSION.sub("", request.path)
        if path == DIALOG and request.method in {"GET", "HEAD"}:
            return dialog.show(self.state, request)
        if path == DIALOG + "/decision" and request.method == "POST":
            return dialog.decide(self.state, request)
        return html_response(html.document("Page not found"), 404)

    # The Graph API ------------------------------------------------------------------------------------

    def _graph(self, request: Request) -> None:
        route = find(self.state, request)
        fault = self.state.fault_at(route.call, route.person)
        entry = self.state.record_call(
            call=route.call,
            method=request.method,
            path=request.path,
            person=route.person.key if route.person else None,
            fault=fault.kind if fault else None,
            status=None,
        )
        if fault is None:
            self._answer(answered(route, request.token), route, entry)
        elif fault.kind in AFTER_CALL:
            answered(route, request.token)
            self._fail(fault.kind.removeprefix("accept_then_"), fault, entry)
        elif fault.kind in SLOW:
            self._drip(answered(route, request.token), fault)
        else:
            self._answer_with_fault(request, route, fault, entry)

    def _answer(self, answer: Response, route: Route, entry: dict[str, Any]) -> None:
        """Answer, or fail in the way that the accepted message asked for."""
        ending = answer.headers.get(ENDING)
        if ending:
            self._fail(ending, Fault(call=route.call, kind=ending, seconds=HANG_SECONDS), entry)
        else:
            self._write(answer, entry)

    def _answer_with_fault(self, request: Request, route: Route, fault: Fault, entry: dict[str, Any]) -> None:
        if fault.kind in ERRORS:
            self._write(error_response(fault.kind, request.token), entry)
        elif fault.kind in MUTATIONS:
            answer = answered(route, request.token)
            self._write(mutated(answer, fault.kind) if answer.status == 200 else answer, entry)
        else:
            self._fail(fault.kind, fault, entry)

    def _fail(self, kind: str, fault: Fault, entry: dict[str, Any]) -> None:
        if kind in BROKEN or kind in ERRORS:
            self._write(BROKEN.get(kind) or error_response(kind), entry)
            return
        if kind == "hang":
            self.state.closing.wait(fault.seconds)
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _drip(self, answer: Response, fault: Fault) -> None:
        """Send slowly, byte by byte: the body, or with `drip_head` a header that does not end."""
        head = f"HTTP/1.1 {answer.status} OK\r\nContent-Type: {answer.content_type}\r\nX-Drops: ".encode()
        rest = f"x\r\nContent-Length: {len(answer.body)}\r\n\r\n".encode()
        drops = answer.body
        if fault.kind == "drip_head":
            rest, drops = b"", b"x" * 100_000
        self.wfile.write(head + rest)
        until = time.monotonic() + fault.seconds
        for position in range(len(drops)):
            if time.monotonic() > until or self.state.closing.wait(DROP_SECONDS):
                break
            self.wfile.write(drops[position : position + 1])
        self.close_connection = True

    # Reading and writing ------------------------------------------------------------------------------

    def _read_request(self) -> Request | None:
        parts = urlsplit(self.path)
        query = parse_qs(parts.query, keep_blank_values=True)
        length = self.headers.get("Content-Length", "0")
        is_upload = self.headers.get_content_type() == MULTIPART
        if not length.isdigit() or int(length) > (LARGEST_UPLOAD if is_upload else LARGEST_BODY):
            self.close_connection = True
            return None
        raw = self.rfile.read(int(length))
        files: dict[str, tuple[str, str, bytes]] = {}
        if is_upload:
            form, files = parts_of(self.headers.get("Content-Type", ""), raw)
            body: dict[str, Any] | None = {}
        else:
            form, body = self._body(raw)
        if body is None:
            return None
        lists = {**query, **form}
        params = {name: values[-1] for name, values in lists.items()} | body
        return Request(
            method=self.command,
            path=parts.path,
            query=query,
            params=params,
            lists=lists,
            token=self._token() or str(params.get("access_token", "")),
            files=files,
        )

    def _body(self, raw: bytes) -> tuple[dict[str, list[str]], dict[str, Any] | None]:
        if self.headers.get_content_type() != "application/json":
            return parse_qs(raw.decode(errors="replace"), keep_blank_values=True), {}
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            return {}, None
        return {}, body if isinstance(body, dict) else None

    def _token(self) -> str:
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        return token if scheme in {"Bearer", "OAuth"} else ""

    def _write(self, answer: Response, entry: dict[str, Any] | None = None) -> None:
        if entry is not None:
            entry["status"] = answer.status
        self.send_response(answer.status)
        headers = {"Content-Type": answer.content_type, "Content-Length": str(len(answer.body)), **answer.headers}
        for name, text in headers.items():
            self.send_header(name, text)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: the ledger has all calls."""


def _front_page() -> str:
    here = [
        (f"{PREFIX}people", "people", "Everybody who can stand at the dialog, with their accounts' ids"),
        (f"{PREFIX}ledger", "ledger", "All calls, subscriptions and messages so far"),
        (f"{PREFIX}scenario", "scenario", "What is being played"),
    ]
    return html.document("Sandbox provider", html.paragraph("A stand-in for the Graph API."), html.links(here))
