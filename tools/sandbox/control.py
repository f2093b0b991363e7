"""The control endpoint: play a scenario, read the ledger, start anew, send callbacks, end tokens."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final

from tools.sandbox.answers import Answer, Ask, told
from tools.sandbox.callbacks import KINDS, SIGNATURES, post_callback
from tools.sandbox.errors import ERRORS
from tools.sandbox.people import PEOPLE
from tools.sandbox.scenario import Scenario, Unplayable
from tools.sandbox.world import World

PREFIX: Final = "/__control/"


def control(world: World, ask: Ask) -> Answer:
    """Answer a call to the control endpoint; 400 explains what was not understood."""
    handler = HANDLERS.get((ask.method, ask.path.removeprefix(PREFIX)))
    if handler is None:
        known = sorted(f"{method} {PREFIX}{name}" for method, name in HANDLERS)
        return told({"error": "There is no such call.", "calls": known}, 404)
    try:
        return told(handler(world, dict(ask.given)))
    except (Unplayable, TypeError, ValueError) as error:
        return told({"error": str(error)}, 400)
    except KeyError as error:
        return told({"error": f"{error} is missing or unknown.", "kinds": [*sorted(KINDS), "raw", "verification"]}, 400)


def _play(world: World, words: dict[str, Any]) -> Any:
    world.play(Scenario.read(words))
    return asdict(world.scenario)


def _reset(world: World, words: dict[str, Any]) -> Any:
    world.reset()
    return {"success": True}


def _revoke(world: World, words: dict[str, Any]) -> Any:
    """End all tokens of a person, with the error of this name; without one, bring them back."""
    person, error = words["person"], words.get("error", "password_changed")
    if person not in PEOPLE or (error and error not in ERRORS):
        raise Unplayable(f"There is no person {person!r} or no error {error!r}.")
    with world.lock:
        world.revoked.pop(person, None)
        if error:
            world.revoked[person] = error
    return {"revoked": dict(world.revoked)}


def _callback(world: World, words: dict[str, Any]) -> Any:
    if words.get("signature", "right") not in SIGNATURES:
        raise Unplayable(f"A signature is one of {', '.join(SIGNATURES)}.")
    return post_callback(world.config, words)


def _people(world: World, words: dict[str, Any]) -> Any:
    """Describe everybody, except the endless lists of those who have too much."""
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


HANDLERS: Final[dict[tuple[str, str], Callable[[World, dict[str, Any]], Any]]] = {
    ("POST", "scenario"): _play,
    ("GET", "scenario"): lambda world, words: asdict(world.scenario),
    ("GET", "people"): _people,
    ("GET", "ledger"): lambda world, words: world.ledger(),
    ("POST", "reset"): _reset,
    ("POST", "revoke"): _revoke,
    ("POST", "callback"): _callback,
}
