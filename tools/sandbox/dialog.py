"""The consent screens: who are you, what do you allow, for which accounts; Continue or Cancel."""

from typing import Final
from urllib.parse import urlencode, urlsplit

from tools.sandbox import html
from tools.sandbox.answers import Answer, Ask, moved, page
from tools.sandbox.people import PEOPLE, Person
from tools.sandbox.scopes import OF_CONFIGURATION, assets, platform_of
from tools.sandbox.tokens import Token
from tools.sandbox.world import World

CARRIED: Final = ("client_id", "redirect_uri", "state", "response_type", "config_id", "scope", "person")
MOST_BOXES: Final = 100


class Dead(Exception):
    """The dialog ends here, as Meta's does: the browser is never sent back."""


def show(world: World, ask: Ask) -> Answer:
    """Show the next screen or, where the scenario has decided already, answer at once."""
    try:
        scopes = _asked(world, ask)
    except Dead as dead:
        return page(html.document("Sorry, something went wrong.", html.paragraph(str(dead))), 400)
    scenario = world.scenario
    person = PEOPLE.get(scenario.person or ask.text("person"))
    if person is None:
        return page(_people(ask))
    if scenario.decision == "decline":
        return moved(_declined(ask))
    if scenario.decision == "approve":
        granted = tuple(scope for scope in scopes if scope not in scenario.declined)
        return _approved(world, ask, person, granted, scenario.accounts)
    return page(_consent(ask, person, scopes))


def decide(world: World, ask: Ask) -> Answer:
    """Take the form's answer."""
    try:
        scopes = _asked(world, ask)
    except Dead as dead:
        return page(html.document("Sorry, something went wrong.", html.paragraph(str(dead))), 400)
    person = PEOPLE.get(ask.text("person"))
    if person is None or ask.text("decision") != "approve":
        return moved(_declined(ask))
    ticked = ask.lists.get("permission", [])
    granted = scopes if ask.text("config_id") else tuple(scope for scope in scopes if scope in ticked)
    offered = [key for key, _ in assets(person, platform_of(scopes))]
    picked = tuple(key for key in offered if key in ask.lists.get("asset", []))
    shows_all = len(offered) > MOST_BOXES or len(picked) == len(offered)
    return _approved(world, ask, person, granted, None if shows_all else picked)


def _asked(world: World, ask: Ask) -> tuple[str, ...]:
    """Give the permissions that are asked for. Raises `Dead` for an app or an address that is not registered."""
    config = world.config
    if ask.text("client_id") != config.app_id:
        raise Dead("Invalid App ID: The provided app ID does not look like a valid app ID.")
    if ask.text("redirect_uri") not in config.redirect_uris:
        raise Dead("URL blocked: the redirect URI is not in the app's list of valid OAuth redirect URIs.")
    config_id = ask.text("config_id")
    if not config_id:
        return tuple(scope for scope in ask.text("scope").split(",") if scope)
    platform = config.platform_of(config_id)
    if platform is None:
        raise Dead("This configuration does not belong to the app.")
    return OF_CONFIGURATION[platform]


def _people(ask: Ask) -> str:
    here = {name: ask.text(name) for name in CARRIED if ask.text(name)}
    rows = [(f"?{urlencode(here | {'person': person.key})}", person.key, person.what) for person in PEOPLE.values()]
    return html.document(
        "Who are you?", html.paragraph("Each of these people makes something happen."), html.links(rows)
    )


def _consent(ask: Ask, person: Person, scopes: tuple[str, ...]) -> str:
    offered = assets(person, platform_of(scopes))
    title = "WhatsApp accounts" if platform_of(scopes) == "whatsapp" else "Pages"
    boxes = html.ticks(title, "asset", [(key, f"{name} ({key})") for key, name in offered[:MOST_BOXES]])
    more = html.paragraph(f"… and {len(offered) - MOST_BOXES} more") if len(offered) > MOST_BOXES else ""
    is_fixed = bool(ask.text("config_id"))
    return html.document(
        "Allow access?",
        html.paragraph(f"You are {person.key}. {person.what}."),
        html.form(
            urlsplit(ask.path).path + "/decision",
            html.hidden({name: ask.text(name) for name in CARRIED if ask.text(name)} | {"person": person.key}),
            html.ticks("Permissions", "permission", [(scope, scope) for scope in scopes], fixed=is_fixed),
            boxes,
            more,
            html.buttons(("approve", "Continue"), ("decline", "Cancel")),
        ),
    )


def _approved(
    world: World, ask: Ask, person: Person, granted: tuple[str, ...], chosen: tuple[str, ...] | None
) -> Answer:
    scopes = _asked(world, ask)
    kept = tuple(scope for scope in granted if scope not in person.declines)
    token = Token(
        person=person.key,
        kind="SYSTEM_USER" if ask.text("config_id") else "USER",
        granted=(*kept, "public_profile"),
        declined=tuple(scope for scope in scopes if scope not in kept),
        chosen=chosen,
    )
    code = world.new_code(token, ask.text("redirect_uri"))
    return moved(_back(ask, {"code": code}) + "#_=_")


def _declined(ask: Ask) -> str:
    told = {"error": "access_denied", "error_code": "200", "error_description": "Permissions error"}
    return _back(ask, told | {"error_reason": "user_denied"})


def _back(ask: Ask, words: dict[str, str]) -> str:
    return f"{ask.text('redirect_uri')}?{urlencode(words | {'state': ask.text('state')})}"
