"""Asks the web process whether it is ours, and whether the system is ready."""

from http.client import HTTPConnection, HTTPException

TIMEOUT_SECONDS = 5.0


def answer(port: int, path: str) -> tuple[int, bytes]:
    """Give status and body of a GET on this machine; status 0 when nobody answers."""
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
    """Say whether our own web process, known by the token it was given, calls the whole system ready."""
    _, life = answer(port, "/healthz")
    if instance.encode() not in life:
        return False
    status, _ = answer(port, "/readyz")
    return status == 200
