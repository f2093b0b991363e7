"""The web process: finds a free port, asks the process, and says whether the system is ready."""

import socket
from http.client import HTTPConnection, HTTPException

from tools.local.errors import CannotStart

TIMEOUT_SECONDS = 5.0


def free_port(port: int) -> int:
    """Give the port if it is free, or any free port for 0. Raises `CannotStart` if it is taken."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
            listener.listen(1)
        except OSError as error:
            raise CannotStart(
                f"Port {port} cannot be used ({error.strerror}). Stop the program that uses it, or choose "
                "another: make run PORT=8001"
            ) from error
        chosen: int = listener.getsockname()[1]
        return chosen


def get(port: int, path: str) -> tuple[int, bytes]:
    """Give status and body of a GET on this machine; status 0 if no server answers."""
    connection = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read()
    except (OSError, HTTPException):
        return 0, b""
    finally:
        connection.close()


def is_ready(port: int, instance: str) -> bool:
    """Say whether our web process, known by its token `instance`, calls the whole system ready.

    While a worker is missing the web process says `degraded`, which is not ready.
    """
    status, body = get(port, "/readyz")
    return status == 200 and instance.encode() in body and b'"status": "ready"' in body
