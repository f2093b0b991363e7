"""The answers that every operation shares: its errors, and the headers of the rate limit."""

import re
from dataclasses import dataclass
from typing import Any

from config.api.errors import UNAVAILABLE

ERROR = {"type": "object", "required": ["message"], "properties": {"message": {"type": "string"}}}
VALIDATION_ERROR = {
    "type": "object",
    "required": ["message", "errors"],
    "properties": {
        "message": {"type": "string", "description": "The first error, and how many more there are."},
        "errors": {
            "type": "object",
            "description": "Sentences by field; inside objects and lists by dotted path: `owner.email`.",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
        },
    },
}
HEADERS = {
    "RateLimit": {"description": "Requests allowed in a window of 60 seconds.", "schema": {"type": "integer"}},
    "RateRemaining": {"description": "Requests left in this window.", "schema": {"type": "integer"}},
    "RetryAfter": {
        "description": "Seconds after which the request may be sent again.",
        "schema": {"type": "integer", "minimum": 1},
    },
    "IdempotentReplayed": {
        "description": "`true` where this is the first answer again; absent from the first one.",
        "schema": {"const": "true"},
    },
}
COUNTED = {
    "X-RateLimit-Limit": {"$ref": "#/components/headers/RateLimit"},
    "X-RateLimit-Remaining": {"$ref": "#/components/headers/RateRemaining"},
}
NAMES = {
    400: "Malformed",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    413: "TooLarge",
    415: "UnsupportedMedia",
    422: "Invalid",
    429: "TooManyRequests",
    500: "ServerError",
    503: "Unavailable",
}
EXAMPLES = {
    400: "The body is not valid JSON.",
    401: "Invalid API key.",
    404: "Not found.",
    409: "The state of the resource does not allow this.",
    413: "The body is larger than 1 MiB.",
    415: "Send the body as application/json in UTF-8.",
    429: "Too many requests. Retry after 12 seconds.",
    500: "Server error.",
    503: UNAVAILABLE,
}
MEANINGS = {
    400: "The body is missing where one is needed, is no JSON object, repeats a key, or is nested too deeply.",
    401: "The API key is missing, unknown or revoked, or not of the agency whose domain was asked.",
    404: "No such resource, or it is somebody else's.",
    409: "The state of the resource does not allow this.",
    413: "The body is larger than 1 MiB.",
    415: "The body is not JSON in UTF-8.",
    422: "Fields were refused.",
    429: "Over the rate limit.",
    500: "A fault on our side. Tell us the X-Request-Id of the answer.",
    503: "The database cannot be asked, or not in time: send the request again after `Retry-After` seconds.",
}
REFUSED_FIELDS = {"message": "The name field is required.", "errors": {"name": ["The name field is required."]}}
ALWAYS = (401, 403, 429, 500, 503)
OF_A_WRITE = (400, 413, 415, 422)
WRITES = frozenset({"post", "put", "patch"})
AN_ID = re.compile(r"{\w+}")
EXAMPLE_ID = "0a4ce8f1-22c4-4a62-9f5e-64c2f43a9d1b"
QUERY_TOO_LONG = "The query string has more than 1,000 parameters."


@dataclass(frozen=True, slots=True)
class SurfaceRefusals:
    """The sentences with which a surface refuses any operation: for a 403, and for its switch if it has one."""

    forbidden: str
    disabled: str = ""


def _sentence(status: int, refusals: SurfaceRefusals) -> str:
    return refusals.forbidden if status == 403 else EXAMPLES[status]


def _meaning(status: int, refusals: SurfaceRefusals) -> str:
    meaning = MEANINGS.get(status) or _sentence(status, refusals)
    return join_descriptions(meaning, refusals.disabled) if status == 503 and refusals.disabled else meaning


def _answer(status: int, refusals: SurfaceRefusals) -> dict[str, object]:
    invalid = status == 422
    example = REFUSED_FIELDS if invalid else {"message": _sentence(status, refusals)}
    schema = {"$ref": f"#/components/schemas/{'ValidationError' if invalid else 'Error'}"}
    answer: dict[str, object] = {
        "description": _meaning(status, refusals),
        "content": {"application/json": {"schema": schema, "example": example}},
    }
    if status == 429:
        answer["headers"] = {**COUNTED, "Retry-After": {"$ref": "#/components/headers/RetryAfter"}}
    if status == 503:
        answer["headers"] = {"Retry-After": {"$ref": "#/components/headers/RetryAfter"}}
    return answer


def components(refusals: SurfaceRefusals) -> dict[str, object]:
    """Return the shared components."""
    return {
        "schemas": {"Error": ERROR, "ValidationError": VALIDATION_ERROR},
        "headers": HEADERS,
        "responses": {name: _answer(status, refusals) for status, name in NAMES.items()},
        "securitySchemes": {
            "ApiKey": {"type": "apiKey", "in": "header", "name": "x-api-key"},
            "Bearer": {"type": "http", "scheme": "bearer"},
        },
    }


def _errors(path: str, method: str, operation: dict[str, Any], refusals: SurfaceRefusals) -> dict[int, str]:
    """Return the errors that an operation may have, each with its own sentence or an empty text."""
    found = dict.fromkeys(ALWAYS, "")
    if "{" in path:
        found[404] = ""
    if method in WRITES:
        found |= dict.fromkeys(OF_A_WRITE, "")
        if "requestBody" not in operation:
            del found[422]  # no field is validated
    elif any(parameter["in"] == "query" for parameter in operation.get("parameters", [])):
        found[400] = QUERY_TOO_LONG
    own = operation.get("x-errors", {})
    if 403 in own:
        own = own | {403: join_descriptions(own[403], refusals.forbidden)}
    return dict(sorted((found | own).items()))


def place_links(path: str, operation: dict[str, Any]) -> None:
    """Put the operation's path into the links in its examples of pages."""
    for answer in operation["responses"].values():
        for content in answer.get("content", {}).values():
            for example in content.get("examples", {}).values():
                if "links" in (shown := example["value"]):
                    own = AN_ID.sub(EXAMPLE_ID, path)
                    links = {name: link.replace("/PATH", own) for name, link in shown["links"].items()}
                    example["value"] = {**shown, "links": links}


def join_descriptions(one: str, other: str) -> str:
    """Join the sentences of two reasons for the same status."""
    return f"{one} Or: {other}"


def add_shared_answers(path: str, method: str, operation: dict[str, Any], refusals: SurfaceRefusals) -> None:
    """Add the shared errors and headers to an operation. Its own declarations take precedence."""
    parameters = operation.get("parameters", [])
    place_links(path, operation)
    headers = COUNTED
    if any(parameter["name"] == "Idempotency-Key" for parameter in parameters):
        headers = {**COUNTED, "Idempotent-Replayed": {"$ref": "#/components/headers/IdempotentReplayed"}}
    for answer in operation["responses"].values():
        answer["headers"] = {**headers, **answer.get("headers", {})}
    for status, own in _errors(path, method, operation, refusals).items():
        shared: dict[str, object] = {"$ref": f"#/components/responses/{NAMES[status]}"}
        operation["responses"].setdefault(str(status), {**shared, "description": own} if own else shared)
    operation["responses"] = dict(sorted(operation["responses"].items()))
    operation.pop("x-errors", None)
    for parameter in parameters:
        if parameter["in"] == "path":
            parameter.setdefault("description", f"The {parameter['name']}'s uuid, in any case.")
