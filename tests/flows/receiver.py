"""An integrator's receiver: takes what the agency is sent, and believes only what is signed."""

import hashlib
import hmac
import json
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.document.recording import watch_envelope


class Receiver:
    """Answers 200 to everything; `received` holds `(headers, body)` in the order of arrival."""

    def __init__(self) -> None:
        received: queue.Queue[tuple[dict[str, str], bytes]] = queue.Queue()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()
                watch_envelope(body)
                received.put((dict(self.headers), body))

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        self.received = received
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/hooks"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def believed(self, count: int, secret: str) -> list[dict[str, Any]]:
        """Wait for so many messages and give their envelopes; each must be signed with the secret."""
        envelopes = []
        for _ in range(count):
            headers, body = self.received.get(timeout=60)
            signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
            assert headers["X-Svc-Signature"] == f"sha256={signature}"
            envelope = json.loads(body)
            assert (headers["X-Svc-Event"], headers["X-Svc-Delivery"]) == (envelope["event"], envelope["id"])
            assert headers["User-Agent"] == "Svc-Agency-Webhooks/1.0"
            envelopes.append(envelope)
        return envelopes
