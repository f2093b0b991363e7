"""Changes successful answers: they stay well-formed but say something unwelcome."""

import time
from collections.abc import Callable
from typing import Any, Final

from tools.sandbox.http_messages import Response, json_response

Body = dict[str, Any]
FIRST_CURSOR: Final = "cGFnZTow"  # page:0


def mutated(answer: Response, name: str) -> Response:
    body = answer.object
    MUTATIONS[name](body)
    return json_response(body, answer.status)


def _in_data(**changes: Any) -> Callable[[Body], None]:
    def change(body: Body) -> None:
        body["data"].update(changes)

    return change


def _on_top(**changes: Any) -> Callable[[Body], None]:
    def change(body: Body) -> None:
        body.update(changes)

    return change


def _without_token(body: Body) -> None:
    body.pop("access_token", None)


def _expired(body: Body) -> None:
    body["data"]["expires_at"] = int(time.time()) - 60


def _without_targets(body: Body) -> None:
    for entry in body["data"]["granular_scopes"]:
        entry.pop("target_ids", None)


def _endless(body: Body) -> None:
    cursors = {"before": FIRST_CURSOR, "after": FIRST_CURSOR}
    body.update({"data": [], "paging": {"cursors": cursors, "next": "https://graph.facebook.com/next"}})


def _bare_next(body: Body) -> None:
    body["paging"].pop("cursors", None)


def _only_defaults(body: Body) -> None:
    kept = {"id", "display_phone_number", "verified_name", "quality_rating"}
    body["data"] = [{name: value for name, value in item.items() if name in kept} for item in body["data"]]


MUTATIONS: Final[dict[str, Callable[[Body], None]]] = {
    "success_false": _on_top(success=False),
    "without_token": _without_token,
    "odd_expires_in": _on_top(expires_in="x"),
    "invalid": _in_data(is_valid=False),
    "other_app": _in_data(app_id="999999"),
    "expired": _expired,
    "odd_expiry": _in_data(expires_at="x"),
    "never_expires": _in_data(expires_at=0),
    "without_targets": _without_targets,
    "endless": _endless,
    "bare_next": _bare_next,
    "only_defaults": _only_defaults,
}
