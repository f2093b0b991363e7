"""The answers that every operation shares: its errors, and the headers of the limit."""

from typing import Any

ERROR = {
    "type": "object",
    "required": ["message"],
    "properties": {"message": {"type": "string"}},
}
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
    "RateLimit": {
        "description": "Requests allowed in a window of 60 seconds.",
        "schema": {"type": "integer"},
    },
    "RateRemaining": {"description": "Requests left in this window.", "schema": {"type": "integer"}},
    "RetryAfter": {
        "description": "Seconds to the end of the window.",
        "schema": {"type": "integer", "minimum": 1},
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
    503: "Disabled",
}
EXAMPLES = {
    400: "The body is not valid JSON.",
    401: "Invalid API key.",
    403: "You may not do this.",
    404: "Not found.",
    409: "The state of the resource does not allow this.",
    413: "The body is larger than 1 MiB.",
    415: "Send the body as application/json in UTF-8.",
    429: "Too many requests. Retry after 12 seconds.",
    500: "Server error.",
}
MEANINGS = {
    400: "The body is not a JSON object, repeats a key, or is nested too deeply.",
    401: "The API key is missing, unknown or revoked.",
    403: "The caller is known and may not do this.",
    404: "No such resource of yours.",
    409: "The state of the resource does not allow this.",
    413: "The body is larger than 1 MiB.",
    415: "The body is not JSON in UTF-8.",
    422: "Fields were refused.",
    429: "Over the rate limit.",
    500: "A fault on our side; the log has it under the answer's X-Request-Id.",
    503: "The surface is switched off.",
}
REFUSED_FIELDS = {
    "message": "The name field is required.",
    "errors": {"name": ["The name field is required."]},
}
ALWAYS = (401, 403, 429, 500)
WITH_A_BODY = (400, 409, 413, 415, 422)


def _answer(status: int, disabled: str) -> dict[str, Any]:
    invalid = status == 422
    example = REFUSED_FIELDS if invalid else {"message": disabled if status == 503 else EXAMPLES[status]}
    schema = {"$ref": f"#/components/schemas/{'ValidationError' if invalid else 'Error'}"}
    answer = {
        "description": MEANINGS[status],
        "content": {"application/json": {"schema": schema, "example": example}},
    }
    if status == 429:
        answer["headers"] = {**COUNTED, "Retry-After": {"$ref": "#/components/headers/RetryAfter"}}
    return answer


def components(*, disabled: str) -> dict[str, Any]:
    """Give the shared components; `disabled` is the sentence of a surface that answers 503, or nothing."""
    statuses = [status for status in NAMES if status != 503 or disabled]
    return {
        "schemas": {"Error": ERROR, "ValidationError": VALIDATION_ERROR},
        "headers": HEADERS,
        "responses": {NAMES[status]: _answer(status, disabled) for status in statuses},
        "securitySchemes": {
            "ApiKey": {"type": "apiKey", "in": "header", "name": "x-api-key"},
            "Bearer": {"type": "http", "scheme": "bearer"},
        },
    }


def _statuses(path: str, operation: dict[str, Any], *, disabled: str) -> list[int]:
    found = [*ALWAYS, *([503] if disabled else []), *([404] if "{" in path else [])]
    if "requestBody" in operation:
        found += [404, *WITH_A_BODY]
    return sorted({*found, *operation.get("x-errors", {})})


def complete(path: str, operation: dict[str, Any], *, disabled: str) -> None:
    """Add what an operation may answer beside what it declares, in its own words where it has some."""
    for answer in operation["responses"].values():
        answer["headers"] = {**COUNTED, **answer.get("headers", {})}
    for status in _statuses(path, operation, disabled=disabled):
        shared: dict[str, Any] = {"$ref": f"#/components/responses/{NAMES[status]}"}
        own = operation.get("x-errors", {}).get(status)
        operation["responses"].setdefault(str(status), {**shared, "description": own} if own else shared)
    operation["responses"] = dict(sorted(operation["responses"].items()))
    operation.pop("x-errors", None)
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "path":
            parameter.setdefault("description", f"The {parameter['name']}'s uuid, in any case.")
