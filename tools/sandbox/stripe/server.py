"""Runs a stand-in for Stripe, in this process for tests or as a separate process."""

import contextlib
import json
import re
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs, parse_qsl, urlsplit

from tools.sandbox.consent import html
from tools.sandbox.control.callers import refusal
from tools.sandbox.http_messages import Response, html_response, json_response, redirect
from tools.sandbox.stripe import api
from tools.sandbox.stripe.control import control
from tools.sandbox.stripe.state import Account, Fault, Refused, StripeState

LARGEST_BODY: Final = 1024 * 1024
HANG_SECONDS: Final = 60.0
PAGE: Final = re.compile(r"/c/pay/(\w+)/(\w+)")
CONTROL: Final = "/__control/"
NAME: Final = re.compile(r"([^\[\]]+)((?:\[[^\[\]]*\])*)")
BROKEN: Final = {
    "429": json_response({"error": {"type": "invalid_request_error", "code": "rate_limit", "message": "Slow."}}, 429),
    "500": json_response({"error": {"type": "api_error", "message": "Something went wrong."}}, 500),
    "garbage": Response(200, b'{"id": "cs_te'),
    "huge": Response(200, b'{"id": "' + b"x" * (3 * 1024 * 1024) + b'"}'),
    "403": json_response({"error": {"type": "invalid_request_error", "message": "Lacks the permission."}}, 403),
}


def parameters(raw: str) -> dict[str, Any]:
    """Read Stripe's form encoding: `line_items[0][quantity]=1` is a list with an object."""
    found: dict[str, Any] = {}
    for name, value in parse_qsl(raw, keep_blank_values=True):
        matched = NAME.fullmatch(name)
        if matched:
            _put(found, [matched[1], *re.findall(r"\[([^\]]*)\]", matched[2])], value)
    return {name: _lists(value) for name, value in found.items()}


def _put(into: dict[str, Any], path: list[str], value: str) -> None:
    for step in path[:-1]:
        into = into.setdefault(step, {})
    into[path[-1] or str(len(into))] = value


def _lists(value: Any) -> Any:
    """Turn objects with the names 0, 1, … into lists."""
    if not isinstance(value, dict):
        return value
    inner = {name: _lists(one) for name, one in value.items()}
    return list(inner.values()) if inner and all(name.isdigit() for name in inner) else inner


class StripeHandler(BaseHTTPRequestHandler):
    """One connection; `state` is set by the server."""

    protocol_version = "HTTP/1.1"
    server_version = "sandbox"
    disable_nagle_algorithm = True
    timeout = 120
    state: StripeState

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def _serve(self) -> None:
        with contextlib.suppress(ConnectionError, TimeoutError):  # the caller has gone
            length = self.headers.get("Content-Length", "0")
            if not length.isdigit() or int(length) > LARGEST_BODY:
                self.close_connection = True
                return
            raw = self.rfile.read(int(length)).decode(errors="replace")
            parts = urlsplit(self.path)
            page = PAGE.fullmatch(parts.path)
            if parts.path.startswith(CONTROL):
                self._write(self._control(parts.path.removeprefix(CONTROL), raw))
            elif page:
                self._write(self._page(page[1], page[2], parse_qs(raw)))
            elif parts.path.startswith("/v1/"):
                self._api(parts.path, f"{parts.query}&{raw}")
            else:
                self._write(html_response(html.document("A stand-in for Stripe"), 200 if parts.path == "/" else 404))

    # The API --------------------------------------------------------------------------------------

    def _api(self, path: str, raw: str) -> None:
        with self.state.lock:
            answer, fault = self._answer(path, raw)
        if fault is None or fault.kind in BROKEN:
            self._write(BROKEN[fault.kind] if fault else answer)
            return
        if fault.kind == "hang":
            self.state.closing.wait(HANG_SECONDS)
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _answer(self, path: str, raw: str) -> tuple[Response, Fault | None]:
        """Answer a call, and give the fault that is to take the answer's place."""
        fault = None
        try:
            name, function, ids = api.find_call(self.command, path)
            key = self.headers.get("Authorization", "").removeprefix("Bearer ")
            account = self.state.account_of(key)
            if name in self.state.lacking.get(key, ()):
                raise Refused(403, "invalid_request_error", "The key does not have the required permissions.")
            fault = self.state.fault_at(name)
            entry = {"call": name, "account": account.id, "fault": fault.kind if fault else None, **ids}
            self.state.calls.append(entry)
            if fault and not fault.after:
                return json_response({}), fault
            status, body = self._once(account, path, {**parameters(raw), **ids}, function)
            entry["status"] = status
        except Refused as refused:
            status, body = refused.status, refused.body
        return json_response(body, status), fault

    def _once(self, account: Account, path: str, params: dict[str, Any], call: api.Call) -> tuple[int, dict[str, Any]]:
        """Do a call; one with a known Idempotency-Key is answered as before."""
        key = self.headers.get("Idempotency-Key", "")
        asked = (path, json.dumps(params, sort_keys=True))
        if self.command != "POST" or not key:
            return 200, call(self.state, account, params)
        known = account.answers.get(key)
        if known and known[0] != asked:
            raise Refused(400, "idempotency_error", "Keys for idempotent requests can only be used with the same ones.")
        if not known:
            known = account.answers[key] = (asked, 200, dict(call(self.state, account, params)))
        return known[1], known[2]

    # Pages ----------------------------------------------------------------------------------------

    def _page(self, account_id: str, key: str, form: dict[str, list[str]]) -> Response:
        with self.state.lock:
            account = self.state.accounts.get(account_id)
            session = account.sessions.get(key) if account else None
            if account is None or session is None:
                return html_response(html.document("Page not found"), 404)
            api.expire_if_late(self.state, account, session)
            how = form.get("decision", [""])[0]
            if session["status"] != "open":
                return html_response(html.document("You're all done here", html.paragraph("This link has ended.")))
            if self.command == "POST" and how in {"pay", "delay"}:
                api.pay(self.state, account, session, how)
                return redirect(session["success_url"])
            if self.command == "POST" and how == "cancel":
                return redirect(session["cancel_url"])
        declined = [html.paragraph("Your card was declined.")] if how == "decline" else []
        return html_response(_checkout_page(self.path, session, declined))

    # Control --------------------------------------------------------------------------------------

    def _control(self, name: str, raw: str) -> Response:
        address, port = self.connection.getsockname()[:2]
        why = refusal(self.headers, peer=self.client_address[0], address=address, port=port)
        if why:
            return json_response({"error": why}, 403)
        if self.command != "POST" or self.headers.get_content_type() != "application/json":
            return json_response({"error": "Send application/json."}, 415)
        try:
            return json_response(control(self.state, name, json.loads(raw or "{}")))
        except (LookupError, TypeError, ValueError, AttributeError, Refused) as error:
            return json_response({"error": repr(error)}, 400)

    def _write(self, answer: Response) -> None:
        self.send_response(answer.status)
        headers = {"Content-Type": answer.content_type, "Content-Length": str(len(answer.body)), **answer.headers}
        for name, text in headers.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: the ledger has all calls."""


def _checkout_page(path: str, session: dict[str, Any], notes: list[str]) -> str:
    amount = f"{session['amount_total']} {session['currency'].upper()} in Stripe's smallest unit"
    choices = html.buttons(
        ("pay", "Pay"),
        ("delay", "Pay by bank debit, which takes a while"),
        ("decline", "Try a card that is declined"),
        ("cancel", "Back"),
    )
    parts = (html.paragraph(session["_title"]), html.paragraph(amount), *notes, html.form(path, choices))
    return html.document("Pay at the sandbox", *parts)


class StripeServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        self.state = StripeState()
        super().__init__((host, port), type("Handler", (StripeHandler,), {"state": self.state}))
        self.state.own_url = self.url

    @property
    def url(self) -> str:
        return f"http://{self.server_address[0]!s}:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of callers that have gone."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def server_close(self) -> None:
        self.state.closing.set()
        super().server_close()


@dataclass(frozen=True, slots=True)
class RunningStripe:
    """The address of a stand-in, and its control endpoint over HTTP."""

    url: str

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables that make the product use it."""
        return {"STRIPE_API_URL": self.url}

    def control(self, name: str, **options: Any) -> Any:
        """Do something of `control.HANDLERS`. Raises `ValueError` with the reason of a refusal."""
        connection = HTTPConnection(self.url.removeprefix("http://"), timeout=30)
        try:
            connection.request("POST", CONTROL + name, json.dumps(options), {"Content-Type": "application/json"})
            response = connection.getresponse()
            answer = json.loads(response.read())
        finally:
            connection.close()
        if response.status != 200:
            raise ValueError(answer["error"])
        return answer


@contextmanager
def open_stripe(*, port: int = 0) -> Iterator[RunningStripe]:
    """Run a stand-in in a thread of this process until the block ends."""
    with StripeServer(port=port) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield RunningStripe(server.url)
        finally:
            server.state.closing.set()
            server.shutdown()
            thread.join()
