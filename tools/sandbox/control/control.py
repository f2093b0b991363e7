"""The control endpoint: plays scenarios, shows the ledger, resets, sends callbacks and ends tokens."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final

from tools.sandbox.control.callbacks import KINDS, SIGNATURES, WRITER, post_callback
from tools.sandbox.control.people import PEOPLE
from tools.sandbox.control.scenario import InvalidScenario, Scenario
from tools.sandbox.graph.errors import ERRORS
from tools.sandbox.http_messages import Request, Response, json_response
from tools.sandbox.state import SandboxState

PREFIX: Final = "/__control/"


def control(state: SandboxState, request: Request) -> Response:
    """Answer a call to the control endpoint; a 400 explains what is wrong with the call."""
    handler = HANDLERS.get((request.method, request.path.removeprefix(PREFIX)))
    if handler is None:
        known = sorted(f"{method} {PREFIX}{name}" for method, name in HANDLERS)
        return json_response({"error": "There is no such call.", "calls": known}, 404)
    try:
        return json_response(handler(state, dict(request.params)))
    except (InvalidScenario, TypeError, ValueError) as error:
        return json_response({"error": str(error)}, 400)
    except KeyError as error:
        return json_response(
            {"error": f"{error} is missing or unknown.", "kinds": [*sorted(KINDS), "raw", "verification"]}, 400
        )


def _play(state: SandboxState, body: dict[str, Any]) -> Any:
    state.play(Scenario.read(body))
    return asdict(state.scenario)


def _reset(state: SandboxState, body: dict[str, Any]) -> Any:
    state.reset()
    return {"success": True}


def _revoke(state: SandboxState, body: dict[str, Any]) -> Any:
    """End all tokens of a person with the named error; an empty `error` brings them back."""
    person, error = body["person"], body.get("error", "password_changed")
    if person not in PEOPLE or (error and error not in ERRORS):
        raise InvalidScenario(f"There is no person {person!r} or no error {error!r}.")
    with state.lock:
        state.revoked.pop(person, None)
        if error:
            state.revoked[person] = error
    return {"revoked": dict(state.revoked)}


def _callback(state: SandboxState, body: dict[str, Any]) -> Any:
    if body.get("signature", "right") not in SIGNATURES:
        raise InvalidScenario(f"A signature is one of {', '.join(SIGNATURES)}.")
    if body.get("kind") == "message" and "account" in body:
        platform, person = str(body.get("platform", "whatsapp")), str(body.get("person") or body.get("user_id", WRITER))
        if isinstance(body.get("file"), dict):
            body["file"] = {**body["file"], **_file(state, body["file"])}
        state.open_window(str(body["account"]), person, is_instagram=platform == "instagram")
    return post_callback(state.config, body)


def _people(state: SandboxState, body: dict[str, Any]) -> Any:
    """Describe all people, with at most five numbers of a business account and five Pages each."""
    return {
        person.key: {
            "what": person.what,
            "portfolio_id": person.portfolio_id,
            "numbers": [
                {"id": number.id, "business_account": business.id, "shown": number.shown}
                for business in person.businesses
                for number in business.numbers[:5]
            ],
            "pages": [
                {"id": page.id, "name": page.name, "instagram_id": page.instagram_id} for page in person.pages[:5]
            ],
        }
        for person in PEOPLE.values()
    }


def _file(state: SandboxState, body: dict[str, Any]) -> Any:
    """Keep a file that a person sends; a callback names it by its id or its address."""
    media_id, file = state.media.receive(body)
    told = {"content_type": file.content_type, "filename": file.filename}
    return told | {"id": media_id, "sha256": file.sha256, "url": f"{state.own_url}/media-files/{media_id}/cdn"}


def _template(state: SandboxState, body: dict[str, Any]) -> Any:
    """Change a template, make a new one, or with `removed` remove it; post the callback about it."""
    business, name = str(body.pop("business")), str(body.pop("name"))
    language, is_removed = str(body.pop("language", "en_US")), body.pop("removed", False)
    before = state.templates.change(business, name, language, None if is_removed else body)
    after = state.templates.find(business, name, language)
    if state.config.callback_url:
        post_callback(
            state.config,
            {"kind": "template", "container": business, "before": before, "after": after or {**(before or {}), **body}},
        )
    return {"before": before, "after": after}


HANDLERS: Final[dict[tuple[str, str], Callable[[SandboxState, dict[str, Any]], Any]]] = {
    ("POST", "scenario"): _play,
    ("GET", "scenario"): lambda state, body: asdict(state.scenario),
    ("GET", "people"): _people,
    ("GET", "ledger"): lambda state, body: state.ledger(),
    ("POST", "reset"): _reset,
    ("POST", "revoke"): _revoke,
    ("POST", "callback"): _callback,
    ("POST", "template"): _template,
    ("POST", "file"): _file,
}
