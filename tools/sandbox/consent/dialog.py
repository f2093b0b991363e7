"""The consent screens: a person says who they are, what they allow and for which accounts; Continue or Cancel."""

import json
from typing import Final
from urllib.parse import urlencode, urlsplit

from tools.sandbox.consent import html
from tools.sandbox.control.people import PEOPLE, Person
from tools.sandbox.graph.scopes import OF_CONFIGURATION, assets, platform_of
from tools.sandbox.graph.tokens import Token
from tools.sandbox.http_messages import Request, Response, html_response, redirect
from tools.sandbox.state import SandboxState

CARRIED: Final = ("client_id", "redirect_uri", "state", "response_type", "config_id", "scope", "person", "extras")
MAX_BOXES: Final = 100
FEATURE: Final = "whatsapp_business_app_onboarding"


class DialogError(Exception):
    """The dialog ends with an error page, as Meta's does. It never sends the browser back."""


def show(state: SandboxState, request: Request) -> Response:
    """Show the next screen, or answer at once if the scenario has a decision."""
    try:
        scopes = _requested_scopes(state, request)
    except DialogError as error:
        return html_response(html.document("Sorry, something went wrong.", html.paragraph(str(error))), 400)
    scenario = state.scenario
    person = PEOPLE.get(scenario.person or request.text("person"))
    if person is None:
        return html_response(_people(request))
    if scenario.decision == "decline":
        return redirect(_declined(request))
    if scenario.decision == "approve":
        granted = tuple(scope for scope in scopes if scope not in scenario.declined)
        return _approved(state, request, person, granted, scenario.accounts)
    return html_response(_consent(request, person, scopes))


def decide(state: SandboxState, request: Request) -> Response:
    """Handle the submitted form."""
    try:
        scopes = _requested_scopes(state, request)
    except DialogError as error:
        return html_response(html.document("Sorry, something went wrong.", html.paragraph(str(error))), 400)
    person = PEOPLE.get(request.text("person"))
    if person is None or request.text("decision") != "approve":
        return redirect(_declined(request))
    ticked = request.lists.get("permission", [])
    granted = scopes if request.text("config_id") else tuple(scope for scope in scopes if scope in ticked)
    offered = [key for key, _ in assets(person, platform_of(scopes))]
    picked = tuple(key for key in offered if key in request.lists.get("asset", []))
    shows_all = len(offered) > MAX_BOXES or len(picked) == len(offered)
    return _approved(state, request, person, granted, None if shows_all else picked)


def _requested_scopes(state: SandboxState, request: Request) -> tuple[str, ...]:
    """Give the requested permissions. Raises `DialogError` for an app or address that is not registered."""
    config = state.config
    if request.text("client_id") != config.app_id:
        raise DialogError("Invalid App ID: The provided app ID does not look like a valid app ID.")
    if request.text("redirect_uri") not in config.redirect_uris:
        raise DialogError("URL blocked: the redirect URI is not in the app's list of valid OAuth redirect URIs.")
    config_id = request.text("config_id")
    if not config_id:
        return tuple(scope for scope in request.text("scope").split(",") if scope)
    platform = config.platform_of(config_id)
    if platform is None:
        raise DialogError("This configuration does not belong to the app.")
    return OF_CONFIGURATION[platform]


def _people(request: Request) -> str:
    here = {name: request.text(name) for name in CARRIED if request.text(name)}
    rows = [(f"?{urlencode(here | {'person': person.key})}", person.key, person.what) for person in PEOPLE.values()]
    return html.document(
        "Who are you?", html.paragraph("Each of these people makes something happen."), html.links(rows)
    )


def _consent(request: Request, person: Person, scopes: tuple[str, ...]) -> str:
    offered = assets(person, platform_of(scopes))
    title = "WhatsApp accounts" if platform_of(scopes) == "whatsapp" else "Pages"
    boxes = html.checkboxes(title, "asset", [(key, f"{name} ({key})") for key, name in offered[:MAX_BOXES]])
    more = html.paragraph(f"… and {len(offered) - MAX_BOXES} more") if len(offered) > MAX_BOXES else ""
    is_fixed = bool(request.text("config_id"))
    return html.document(
        "Allow access?",
        html.paragraph(f"You are {person.key}. {person.what}."),
        html.paragraph("Your number stays in the WhatsApp Business app.") if _keeps_app(request) else "",
        html.form(
            urlsplit(request.path).path + "/decision",
            html.hidden({name: request.text(name) for name in CARRIED if request.text(name)} | {"person": person.key}),
            html.checkboxes("Permissions", "permission", [(scope, scope) for scope in scopes], fixed=is_fixed),
            boxes,
            more,
            html.buttons(("approve", "Continue"), ("decline", "Cancel")),
        ),
    )


def _approved(
    state: SandboxState, request: Request, person: Person, granted: tuple[str, ...], chosen: tuple[str, ...] | None
) -> Response:
    scopes = _requested_scopes(state, request)
    kept = tuple(scope for scope in granted if scope not in person.declines)
    token = Token(
        person=person.key,
        kind="SYSTEM_USER" if request.text("config_id") else "USER",
        granted=(*kept, "public_profile"),
        declined=tuple(scope for scope in scopes if scope not in kept),
        chosen=chosen,
    )
    if _keeps_app(request):
        state.business_app.connect(person)
    code = state.new_code(token, request.text("redirect_uri"))
    return redirect(_back(request, {"code": code}) + "#_=_")


def _keeps_app(request: Request) -> bool:
    """Say whether the dialog was opened to connect a number that stays in the WhatsApp Business app."""
    try:
        extras = json.loads(request.text("extras") or "{}")
    except ValueError:
        return False
    return isinstance(extras, dict) and extras.get("featureType") == FEATURE


def _declined(request: Request) -> str:
    fields = {"error": "access_denied", "error_code": "200", "error_description": "Permissions error"}
    return _back(request, fields | {"error_reason": "user_denied"})


def _back(request: Request, fields: dict[str, str]) -> str:
    return f"{request.text('redirect_uri')}?{urlencode(fields | {'state': request.text('state')})}"
