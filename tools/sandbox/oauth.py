"""Codes into tokens, and what tokens are good for."""

import time
from dataclasses import replace

from tools.sandbox.answers import Answer, Ask, told
from tools.sandbox.errors import ERRORS, Refused
from tools.sandbox.people import PEOPLE
from tools.sandbox.scopes import targets
from tools.sandbox.tokens import LONG_SECONDS, SHORT_SECONDS, Token
from tools.sandbox.world import World

DATA_ACCESS_SECONDS = 90 * 24 * 3600


def exchange(world: World, ask: Ask) -> Answer:
    _check_app(world, ask)
    token = world.spend_code(ask.text("code"), ask.text("redirect_uri"))
    lives = SHORT_SECONDS if token.kind == "USER" else 0
    return _given(world, token, lives)


def lengthen(world: World, ask: Ask) -> Answer:
    _check_app(world, ask)
    return _given(world, world.read(ask.text("fb_exchange_token")), LONG_SECONDS)


def _check_app(world: World, ask: Ask) -> None:
    if ask.text("client_id") != world.config.app_id:
        raise Refused("unknown_app")
    if ask.text("client_secret") != world.config.app_secret:
        raise Refused("wrong_secret")


def _given(world: World, token: Token, lives: int) -> Answer:
    expires_at = int(time.time()) + lives if lives else 0
    answer = {"access_token": world.write(replace(token, expires_at=expires_at)), "token_type": "bearer"}
    return told(answer | ({"expires_in": lives} if lives else {}))


def debug_token(world: World, ask: Ask) -> Answer:
    """Only the app's own token may ask."""
    if ask.token != f"{world.config.app_id}|{world.config.app_secret}":
        raise Refused("not_app_token")
    try:
        token = world.read(ask.text("input_token"))
    except Refused as refused:
        wording = ERRORS[refused.name]
        error = {
            "code": wording.code,
            "message": wording.message.replace(" {token}", ""),
            "subcode": wording.subcode or 0,
        }
        return told({"data": {"error": error, "is_valid": False, "scopes": []}})
    person = PEOPLE[token.person]
    return told(
        {
            "data": {
                "app_id": world.config.app_id,
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


def permissions(world: World, ask: Ask, token: Token) -> Answer:
    rows = [{"permission": scope, "status": "granted"} for scope in token.granted]
    rows += [{"permission": scope, "status": "declined"} for scope in token.declined]
    return told({"data": rows})
