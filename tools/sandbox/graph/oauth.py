"""Exchanges codes for tokens, and says what tokens are good for."""

import time
from dataclasses import replace

from tools.sandbox.control.people import PEOPLE
from tools.sandbox.graph.errors import ERRORS, Refused
from tools.sandbox.graph.scopes import targets
from tools.sandbox.graph.tokens import LONG_SECONDS, SHORT_SECONDS, Token
from tools.sandbox.http_messages import Request, Response, json_response
from tools.sandbox.state import SandboxState

DATA_ACCESS_SECONDS = 90 * 24 * 3600


def exchange(state: SandboxState, request: Request) -> Response:
    _check_app(state, request)
    token = state.redeem_code(request.text("code"), request.text("redirect_uri"))
    lives = SHORT_SECONDS if token.kind == "USER" else 0
    return _token_response(state, token, lives)


def lengthen(state: SandboxState, request: Request) -> Response:
    _check_app(state, request)
    return _token_response(state, state.read_token(request.text("fb_exchange_token")), LONG_SECONDS)


def _check_app(state: SandboxState, request: Request) -> None:
    if request.text("client_id") != state.config.app_id:
        raise Refused("unknown_app")
    if request.text("client_secret") != state.config.app_secret:
        raise Refused("wrong_secret")


def _token_response(state: SandboxState, token: Token, lives: int) -> Response:
    expires_at = int(time.time()) + lives if lives else 0
    answer = {"access_token": state.write_token(replace(token, expires_at=expires_at)), "token_type": "bearer"}
    return json_response(answer | ({"expires_in": lives} if lives else {}))


def debug_token(state: SandboxState, request: Request) -> Response:
    """Answer with the facts about a token. Only the app's own token may ask."""
    if request.token != f"{state.config.app_id}|{state.config.app_secret}":
        raise Refused("not_app_token")
    try:
        token = state.read_token(request.text("input_token"))
    except Refused as refused:
        graph_error = ERRORS[refused.name]
        error = {
            "code": graph_error.code,
            "message": graph_error.message.replace(" {token}", ""),
            "subcode": graph_error.subcode or 0,
        }
        return json_response({"data": {"error": error, "is_valid": False, "scopes": []}})
    person = PEOPLE[token.person]
    return json_response(
        {
            "data": {
                "app_id": state.config.app_id,
                "type": token.kind,
                "application": "Sandbox",
                "data_access_expires_at": int(time.time()) + DATA_ACCESS_SECONDS,
                "expires_at": token.expires_at,
                "is_valid": True,
                "issued_at": int(time.time()),
                "scopes": list(token.granted),
                "granular_scopes": targets(person, token),
                "user_id": person.id,
            }
        }
    )


def permissions(state: SandboxState, request: Request, token: Token) -> Response:
    rows = [{"permission": scope, "status": "granted"} for scope in token.granted]
    rows += [{"permission": scope, "status": "declined"} for scope in token.declined]
    return json_response({"data": rows})
