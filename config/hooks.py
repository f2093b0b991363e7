"""Registries: a lower app declares one, and the `hooks` modules of higher apps fill it."""

from collections.abc import Iterator
from importlib import import_module
from typing import Generic, Protocol, TypeVar

from django.apps import AppConfig
from django.core.exceptions import ImproperlyConfigured


class Named(Protocol):
    """An item of a registry. Its name is unique there."""

    @property
    def name(self) -> str: ...


Item = TypeVar("Item", bound=Named)


class Registry(Generic[Item]):
    """Declarations of one kind by name, in the order in which the apps are installed.

    `called` says when and by which function the items are called or read, `transaction` in which transaction, and
    `failure` what an exception of an item does. docs/architecture.md lists all registries (`make hooks`). A registry
    that `takes_one` is for a question to which only one app can have the answer.
    """

    def __init__(self, kind: str, *, called: str, transaction: str, failure: str, takes_one: bool = False) -> None:
        self.kind = kind
        self.takes_one = takes_one
        self.called = called
        self.transaction = transaction
        self.failure = failure
        self._items: dict[str, Item] = {}

    def add(self, *items: Item) -> None:
        """Add declarations.

        Raises `ImproperlyConfigured` for a name that is already there, and for a second item if it `takes_one`.
        """
        for item in items:
            if self.takes_one and self._items:
                known = ", ".join(self._items)
                raise ImproperlyConfigured(f"Only one app may add to the {self.kind}: {known} or {item.name}.")
            if item.name in self._items:
                raise ImproperlyConfigured(f"There are two {self.kind} named {item.name}.")
            self._items[item.name] = item

    def get(self, name: str) -> Item | None:
        return self._items.get(name)

    @property
    def only(self) -> Item | None:
        """The item of a registry that `takes_one`, if an app has added it."""
        return next(iter(self._items.values()), None)

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items.values())


def load_hooks(app: AppConfig) -> None:
    """Import an app's `hooks` module, which fills the registries. Call it in `AppConfig.ready()`."""
    import_module(f"{app.name}.hooks")
