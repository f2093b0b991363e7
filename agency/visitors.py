"""People at our pages, as the activity log names them."""

from agency.actors import Actor
from agency.models import User
from config.api.clients import Address
from config.logs import request_id


def visitor(user: User, address: Address | None) -> Actor:
    """Give the person who makes a change through a page that they opened from this address."""
    return Actor(
        kind="user",
        id=str(user.pk),
        label=user.email,
        address=str(address or ""),
        request_id=request_id.get() or "",
    )
