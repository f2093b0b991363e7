"""Requests and responses of the sandbox, independent of sockets."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from email import message_from_bytes
from email.policy import HTTP
from typing import Any, Final

JSON: Final = "application/json; charset=UTF-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request.

    `params` merges query, form and JSON body; the later ones win. `token` comes from the header, else from `params`.
    """

    method: str
    path: str
    query: Mapping[str, list[str]]
    params: Mapping[str, Any]
    lists: Mapping[str, list[str]] = field(default_factory=dict)
    token: str = ""
    files: Mapping[str, tuple[str, str, bytes]] = field(default_factory=dict)  # name, type and content

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
    """Answer in JSON, with every character beyond ASCII escaped, as the Graph API does."""
    return Response(
        status, json.dumps(value).encode(), {name.replace("_", "-"): text for name, text in headers.items()}
    )


def html_response(html: str, status: int = 200) -> Response:
    headers = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff"}
    return Response(status, html.encode(), headers, "text/html; charset=utf-8")


def redirect(to: str) -> Response:
    return Response(302, b"", {"Location": to, "Cache-Control": "no-store"}, "text/html; charset=utf-8")


def parts_of(content_type: str, raw: bytes) -> tuple[dict[str, list[str]], dict[str, tuple[str, str, bytes]]]:
    """Split a multipart form into its fields and its files, each file with name, type and content."""
    message = message_from_bytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + raw, policy=HTTP)
    fields: dict[str, list[str]] = {}
    files: dict[str, tuple[str, str, bytes]] = {}
    for part in message.iter_parts():
        name = str(part.get_param("name", "", header="content-disposition"))
        content: Any = part.get_payload(decode=True)
        if filename := part.get_filename():
            files[name] = (filename, part.get_content_type(), content)
        else:
            fields.setdefault(name, []).append(content.decode(errors="replace"))
    return fields, files
