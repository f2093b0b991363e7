"""Message templates, listed page by page."""

from tools.sandbox.graph.listing import listed, visible_business
from tools.sandbox.graph.tokens import Token
from tools.sandbox.http_messages import Request, Response
from tools.sandbox.state import SandboxState


def message_templates(state: SandboxState, request: Request, token: Token, key: str) -> Response:
    person, business = visible_business(token, key)
    found = state.templates.of(business.id)
    for name in ("name", "language", "status", "category"):
        if wanted := request.text(name):
            found = [one for one in found if one[name] == wanted]
    return listed(request, found, person)
