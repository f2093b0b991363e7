"""Lists and objects: business accounts, numbers and Pages, with chosen fields and with cursors."""

import base64
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from tools.sandbox.control.people import PEOPLE, Business, Number, Page, Person
from tools.sandbox.graph.errors import Refused
from tools.sandbox.graph.tokens import Token
from tools.sandbox.http_messages import Request, Response, json_response
from tools.sandbox.state import SandboxState

DEFAULT_SIZE: Final = 25
NUMBER_DEFAULTS: Final = "id,display_phone_number,verified_name,quality_rating"
FIELD: Final = re.compile(r"(\w+)(?:\{[^}]*\})?")
MANAGEMENT: Final = "whatsapp_business_management"


def me_accounts(state: SandboxState, request: Request, token: Token) -> Response:
    person = PEOPLE[token.person]
    seen = [] if person.hides_pages or "pages_show_list" not in token.granted else person.pages
    rows = [_page(state, page, token, request) for page in seen if token.may_see(page.id)]
    return listed(request, rows, person)


def me_businesses(state: SandboxState, request: Request, token: Token) -> Response:
    person = PEOPLE[token.person]
    may = "business_management" in token.granted and person.businesses
    return listed(request, [{"id": person.portfolio_id, "name": "Portfolio"}] if may else [], person)


def business_edge(state: SandboxState, request: Request, token: Token, key: str, edge: str) -> Response:
    """List the portfolio's business accounts: the first is shared with it, the others are its own."""
    person = PEOPLE[token.person]
    if key != person.portfolio_id or "business_management" not in token.granted:
        raise Refused("gone")
    is_client_edge = edge.startswith("client_")
    found = person.businesses[:1] if is_client_edge else person.businesses[1:]
    return listed(request, [{"id": item.id, "name": item.name} for item in found if token.may_see(item.id)], person)


def phone_numbers(state: SandboxState, request: Request, token: Token, key: str) -> Response:
    person, business = visible_business(token, key)
    fields = request.text("fields") or NUMBER_DEFAULTS
    return listed(request, [_selected(_number(state, item).fields(), fields) for item in business.numbers], person)


def node(state: SandboxState, request: Request, token: Token, key: str) -> Response:
    """Answer with any object by its id."""
    kind = kind_of(token, key)
    fields = request.text("fields")
    if kind == "waba":
        person, business = visible_business(token, key)
        return json_response(_selected(_business(business, person), fields or "id,name"))
    if kind == "phone":
        _, number = visible_number(token, key)
        return json_response(_selected(_number(state, number).fields(), fields or NUMBER_DEFAULTS))
    return json_response(_page(state, visible_page(token, key), token, request))


def kind_of(token: Token, key: str) -> str:
    """Say what an id is for this person: `waba`, `phone` or `page`. An unknown id counts as `page`."""
    person = PEOPLE[token.person]
    if any(item.id == key for item in person.businesses):
        return "waba"
    return "phone" if any(number.id == key for item in person.businesses for number in item.numbers) else "page"


def visible_business(token: Token, key: str) -> tuple[Person, Business]:
    person = PEOPLE[token.person]
    found = next((item for item in person.businesses if item.id == key and token.may_see(key)), None)
    if found is None or MANAGEMENT not in token.granted:
        raise Refused("gone")
    return person, found


def visible_number(token: Token, key: str) -> tuple[Business, Number]:
    for business in PEOPLE[token.person].businesses:
        for number in business.numbers:
            if number.id == key and token.may_see(business.id):
                return business, number
    raise Refused("gone")


def visible_page(token: Token, key: str) -> Page:
    found = next((page for page in PEOPLE[token.person].pages if page.id == key and token.may_see(key)), None)
    if found is None or (token.page and token.page != key):
        raise Refused("gone")
    return found


def is_registered(state: SandboxState, number: Number) -> bool:
    return number.id in state.registered or (number.platform == "CLOUD_API" and number.status == "CONNECTED")


def _number(state: SandboxState, number: Number) -> Number:
    is_registered_here = number.id in state.registered or number.id in state.business_app.connected
    return replace(number, status="CONNECTED", platform="CLOUD_API") if is_registered_here else number


def _business(business: Business, person: Person) -> dict[str, Any]:
    return {
        "id": business.id,
        "name": business.name,
        "account_review_status": business.review,
        "owner_business_info": {"id": person.portfolio_id, "name": "Portfolio"},
    }


def _page(state: SandboxState, page: Page, token: Token, request: Request) -> dict[str, Any]:
    own = replace(token, kind="PAGE", page=page.id, expires_at=0, nonce=page.id)
    fields: dict[str, Any] = {
        "id": page.id,
        "name": page.name,
        "access_token": state.write_token(own),
        "tasks": list(page.tasks),
        "category": "Local business",
    }
    if page.instagram_id:
        linked = {"id": page.instagram_id, "username": page.instagram_name, "name": page.instagram_name.title()}
        fields["instagram_business_account"] = linked
    return _selected(fields, request.text("fields") or "id,name,access_token,tasks,category")


def _selected(fields: dict[str, Any], wanted: str) -> dict[str, Any]:
    names = {"id", *FIELD.findall(wanted)}
    return {name: value for name, value in fields.items() if name in names}


# Pages ------------------------------------------------------------------------------------------------


def listed(request: Request, rows: Sequence[dict[str, Any]], person: Person) -> Response:
    """Give one page of a list. The last page has cursors but no `next`. With gaps every second page is empty."""
    size = max(1, min(int(request.text("limit") or DEFAULT_SIZE), 100)) if not person.has_gaps else 2
    step = _position(request.text("after"))
    is_gap = person.has_gaps and step % 2 == 1
    start = (step - step // 2 if person.has_gaps else step) * size
    data = [] if is_gap else list(rows[start : start + size])
    paging: dict[str, Any] = {"cursors": {"before": _cursor(step), "after": _cursor(step + 1)}}
    has_more = start < len(rows) if is_gap else start + size < len(rows)
    if has_more:
        paging["next"] = _next(request, step + 1)
    return json_response({"data": data} | ({"paging": paging} if rows else {}))


def _next(request: Request, step: int) -> str:
    """Give the address of the next page as Meta does: on Meta's host, with the token in it."""
    return f"https://graph.facebook.com{request.path}?access_token={request.token}&limit=25&after={_cursor(step)}"


def _cursor(step: int) -> str:
    return base64.urlsafe_b64encode(f"page:{step}".encode()).decode().rstrip("=")


def _position(cursor: str) -> int:
    if not cursor:
        return 0
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        return int(text.removeprefix("page:"))
    except ValueError:
        raise Refused("bad_parameter") from None
