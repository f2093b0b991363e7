"""Runs a sandbox, in this process for tests or as a separate process."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import ThreadingHTTPServer
from typing import Any

from tools.sandbox.config import SandboxConfig, variables
from tools.sandbox.handler import SandboxHandler
from tools.sandbox.state import SandboxState


class SandboxServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, config: SandboxConfig, host: str = "127.0.0.1", port: int = 0) -> None:
        self.state = SandboxState(config)
        handler = type("Handler", (SandboxHandler,), {"state": self.state})
        super().__init__((host, port), handler)
        self.state.own_url = self.url

    @property
    def url(self) -> str:
        return f"http://{self.server_name_or_address}:{self.server_port}"

    @property
    def server_name_or_address(self) -> str:
        return str(self.server_address[0])

    def server_close(self) -> None:
        self.state.closing.set()
        self.state.statuses.close()
        super().server_close()


@dataclass(frozen=True, slots=True)
class RunningSandbox:
    """The address of a sandbox, and its control endpoint over HTTP."""

    url: str
    config: SandboxConfig

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables that make the product use this sandbox."""
        return variables(self.url, self.config)

    def play(self, **scenario: Any) -> None:
        """Play a scenario. Raises `ValueError` for a scenario that the sandbox does not understand."""
        self.control("POST", "scenario", scenario)

    def reset(self) -> None:
        self.control("POST", "reset", {})

    def ledger(self) -> dict[str, Any]:
        return self.control("GET", "ledger")

    def callback(self, **options: Any) -> dict[str, Any]:
        return self.control("POST", "callback", options)

    def control(self, method: str, name: str, options: dict[str, Any] | None = None) -> dict[str, Any]:
        connection = HTTPConnection(self.url.removeprefix("http://"), timeout=30)
        try:
            headers = {"Content-Type": "application/json"}
            body = None if options is None else json.dumps(options)
            connection.request(method, f"/__control/{name}", body, headers)
            response = connection.getresponse()
            answer: dict[str, Any] = json.loads(response.read())
        finally:
            connection.close()
        if response.status != 200:
            raise ValueError(answer["error"])
        return answer


@contextmanager
def open_sandbox(config: SandboxConfig | None = None, *, port: int = 0) -> Iterator[RunningSandbox]:
    """Run a sandbox in a thread of this process until the block ends."""
    with SandboxServer(config or SandboxConfig.read({}), port=port) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield RunningSandbox(server.url, server.state.config)
        finally:
            server.state.closing.set()
            server.shutdown()
            thread.join()
