"""What the sandbox is asked and what it answers, free of sockets."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

JSON: Final = "application/json; charset=UTF-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request: `params` is query, form and JSON body in one, the later ones first; `token` however it came."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    params: Mapping[str, Any]
    lists: Mapping[str, list[str]] = field(default_factory=dict)
    token: str = ""

    def text(self, name: str) -> str:
        value = self.params.get(name)
        return value if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = JSON

    @property
    def object(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found


def json_response(value: object, status: int = 200, **headers: str) -> Response:
    """Answer in JSON, with everything beyond ASCII escaped, as the Graph API does."""
    return Response(
        status, json.dumps(value).encode(), {name.replace("_", "-"): text for name, text in headers.items()}
    )


def html_response(html: str, status: int = 200) -> Response:
    headers = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff"}
    return Response(status, html.encode(), headers, "text/html; charset=utf-8")


def redirect(to: str) -> Response:
    return Response(302, b"", {"Location": to, "Cache-Control": "no-store"}, "text/html; charset=utf-8")
