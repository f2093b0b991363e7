"""Makes the actor of a change from a request, for both APIs, all pages and the admin."""

from typing import Literal

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest

from agency.actors import Actor, ActorKind
from config.api.requests import client_address
from config.logs import request_id


def request_actor(
    request: HttpRequest, *, kind: ActorKind, id: object, label: str, acting_for: str = "", of_workspace: bool = False
) -> Actor:
    """Return the actor of a change with this request, with the request's network address and id."""
    return Actor(
        kind=kind,
        id=str(id),
        label=label,
        acting_for=acting_for,
        of_workspace=of_workspace,
        address=str(client_address(request) or ""),
        request_id=request_id.get() or "",
    )


def user_actor(
    request: HttpRequest,
    user: AbstractBaseUser | AnonymousUser,
    *,
    kind: Literal["user", "staff"] = "user",
    acting_for: str = "",
    of_workspace: bool = False,
) -> Actor:
    """Return the person who makes a change on a page; `staff` is a support person in the admin.

    `acting_for` is the customer as whom an agency's person acts; `of_workspace` says that the person is one of the
    workspace's own people.
    """
    label = user.get_username()
    return request_actor(request, kind=kind, id=user.pk, label=label, acting_for=acting_for, of_workspace=of_workspace)
