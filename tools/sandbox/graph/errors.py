"""The Graph API's errors by name: type, code, subcode and message as documented or observed."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tools.sandbox.http_messages import Response, json_response

OAUTH: Final = "OAuthException"


@dataclass(frozen=True, slots=True)
class GraphError:
    code: int
    message: str
    subcode: int | None = None
    kind: str = OAUTH
    status: int = 400
    challenge: str = ""  # the error's name in `www-authenticate`
    is_transient: bool = False
    minutes: int | None = None  # of waiting, in the usage headers


ERRORS: Final[dict[str, GraphError]] = {
    "code_used": GraphError(100, "This authorization code has been used.", 36009, challenge="invalid_code"),
    "code_expired": GraphError(100, "This authorization code has expired.", 36007, challenge="invalid_code"),
    "code_invalid": GraphError(100, "Invalid verification code format.", challenge="invalid_code"),
    "redirect_mismatch": GraphError(
        100,
        "Error validating verification code. Please make sure your redirect_uri is identical to the one you used in "
        "the OAuth dialog request",
        36008,
        challenge="invalid_code",
    ),
    "wrong_secret": GraphError(1, "Error validating client secret.", challenge="invalid_client"),
    "unknown_app": GraphError(
        101,
        "Error validating application. Cannot get application info due to a system error",
        challenge="invalid_client",
    ),
    "no_token": GraphError(
        2500,
        "An active access token must be used to query information about the current user.",
        challenge="invalid_request",
    ),
    "token_garbled": GraphError(190, "Malformed access token {token}", challenge="invalid_token"),
    "token_expired": GraphError(
        190, "Error validating access token: Session has expired.", 463, challenge="invalid_token"
    ),
    "token_invalid": GraphError(
        190, "Error validating access token: Invalid token {token}", 467, challenge="invalid_token"
    ),
    "password_changed": GraphError(
        190,
        "Error validating access token: The session has been invalidated because the user changed their password.",
        460,
        challenge="invalid_token",
    ),
    "app_removed": GraphError(
        190,
        "Error validating access token: The user has not authorized application 1001.",
        458,
        challenge="invalid_token",
    ),
    "role_lost": GraphError(
        190, "Error validating access token: impersonating user lost its role.", 492, challenge="invalid_token"
    ),
    "bad_proof": GraphError(100, "Invalid appsecret_proof provided in the API argument", kind="GraphMethodException"),
    "not_app_token": GraphError(
        100, "(#100) You must provide an app access token, or a user access token of an owner or developer of the app"
    ),
    "gone": GraphError(
        100,
        "Unsupported get request. Object with ID does not exist, cannot be loaded due to missing permissions, or does "
        "not support this operation.",
        33,
        "GraphMethodException",
    ),
    "bad_parameter": GraphError(100, "(#100) Invalid parameter"),
    "bad_fields": GraphError(100, "(#100) Param subscribed_fields must be one of the known fields"),
    "permission_missing": GraphError(200, "(#200) Requires a permission that was not granted", status=403),
    "permission_denied": GraphError(10, "(#10) Application does not have permission for this action"),
    "page_token_needed": GraphError(210, "(#210) A page access token is required to request this resource."),
    "app_throttled": GraphError(4, "(#4) Application request limit reached", is_transient=True, minutes=0),
    "user_throttled": GraphError(17, "(#17) User request limit reached", is_transient=True, minutes=0),
    "page_throttled": GraphError(32, "(#32) Page request limit reached", is_transient=True, minutes=0),
    "throttled_for_long": GraphError(
        80007, "(#80007) There have been too many calls to this WhatsApp Business account.", minutes=17
    ),
    "unknown_error": GraphError(1, "An unknown error occurred", status=500),
    "service_error": GraphError(
        2, "An unexpected error has occurred. Please retry your request later.", is_transient=True
    ),
    "no_profile": GraphError(100, "(#100) No profile available for this user.", 2018218),
    "not_registered": GraphError(133010, "(#133010) Account not registered"),
    "wrong_pin": GraphError(133005, "(#133005) Two step verification PIN Mismatch"),
    "pin_tried_too_often": GraphError(133008, "(#133008) Too many two step verification PIN guesses"),
    "registered_too_often": GraphError(133016, "(#133016) Account register/deregister rate limit exceeded"),
}


class Refused(Exception):
    """The call is answered with the error of this name."""

    def __init__(self, name: str, **details: str) -> None:
        super().__init__(name)
        self.name = name
        self.details = details


def error_response(name: str, token: str = "") -> Response:
    """Answer with an error's body and its headers."""
    graph_error = ERRORS[name]
    message = graph_error.message.replace("{token}", token)
    error: dict[str, object] = {"message": message, "type": graph_error.kind, "code": graph_error.code}
    if graph_error.subcode is not None:
        error["error_subcode"] = graph_error.subcode
    error |= {"is_transient": graph_error.is_transient, "fbtrace_id": "A" + secrets.token_hex(5)}
    headers = {}
    if graph_error.challenge:
        headers["WWW-Authenticate"] = f'OAuth "Facebook Platform" "{graph_error.challenge}" "{message}"'
    if graph_error.minutes is not None:
        headers |= usage(graph_error.minutes)
    answer = json_response({"error": error}, graph_error.status)
    return Response(answer.status, answer.body, headers)


def usage_of(used: Mapping[str, Mapping[str, int]], account: str) -> dict[str, str]:
    """Give the usage headers of an account's call, as far as the scenario's `usage` has them."""
    headers: dict[str, str] = {}
    if "app" in used:
        headers["X-App-Usage"] = json.dumps(_entry(used["app"]))
    if account in used:
        headers["X-Business-Use-Case-Usage"] = json.dumps({account: [{"type": "messaging"} | _entry(used[account])]})
    return headers


def _entry(used: Mapping[str, int]) -> dict[str, int]:
    counts = {"call_count": used.get("percent", 0), "total_time": 1, "total_cputime": 1}
    return counts | ({"estimated_time_to_regain_access": used["minutes"]} if "minutes" in used else {})


def usage(minutes: int) -> dict[str, str]:
    """Give the usage headers of a caller who has used up the limit."""
    full = {"call_count": 100, "total_time": 100, "total_cputime": 40}
    per_business = {"type": "whatsapp_business_management", "estimated_time_to_regain_access": minutes} | full
    return {"X-App-Usage": json.dumps(full), "X-Business-Use-Case-Usage": json.dumps({"8001": [per_business]})}
