"""Builds the environment of a WSGI application from an ASGI scope."""

import sys
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote_to_bytes
from wsgiref.util import FileWrapper

from config.serving.bodies import Body

# A cookie may hold a comma, so cookie headers are not joined with one.
JOINED_BY = {"HTTP_COOKIE": "; "}


def cgi_headers(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return headers by their CGI names, with repeated ones joined.

    A name with an underscore is dropped. It would read like the name with a hyphen, which a proxy has checked.
    """
    found: dict[str, str] = {}
    for raw_name, raw_value in headers:
        if b"_" in raw_name or raw_name in (b"content-length", b"transfer-encoding"):
            continue
        name, value = raw_name.decode("latin-1").upper().replace("-", "_"), raw_value.decode("latin-1")
        key = name if name == "CONTENT_TYPE" else f"HTTP_{name}"
        found[key] = f"{found[key]}{JOINED_BY.get(key, ',')}{value}" if key in found else value
    return found


def wsgi_environ(scope: Mapping[str, Any], body: Body) -> dict[str, Any]:
    """Return the environment of PEP 3333. Texts are bytes read as Latin-1, and a body always has a length."""
    root = scope.get("root_path", "")
    path = unquote_to_bytes(scope["raw_path"]).decode("latin-1")
    server, client = scope.get("server") or ("", ""), scope.get("client") or ("", "")
    environ = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": root,
        "PATH_INFO": path.removeprefix(root) if root else path,
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1]),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": client[0],
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.input": body.stream,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        "wsgi.file_wrapper": FileWrapper,
        **cgi_headers(scope["headers"]),
    }
    if body.length is not None:
        environ["CONTENT_LENGTH"] = str(body.length)
    return environ
