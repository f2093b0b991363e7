"""Which pages of the console a role may open, read from the views themselves."""

from functools import lru_cache

from django.urls import resolve, reverse

from agency.console.views.base import ConsoleView
from agency.models import Member


def may_open(url_name: str, role: str, args: tuple[object, ...] = ()) -> bool:
    """Return whether people with this role may open a page; `args` are the arguments of its address."""
    return role in _roles_that_open(url_name) if not args else role in _roles_of(reverse(url_name, args=args))


@lru_cache(maxsize=256)
def _roles_that_open(url_name: str) -> frozenset[str]:
    return _roles_of(reverse(url_name))


def _roles_of(address: str) -> frozenset[str]:
    view = getattr(resolve(address).func, "view_class", None)
    if not (isinstance(view, type) and issubclass(view, ConsoleView)):
        return frozenset()
    return view.writers if view.writers_only else frozenset(Member.Role.values)
