"""How an app adds to what stands below it: its `hooks` module fills registries that lower apps have declared."""

from collections.abc import Iterator
from importlib import import_module
from typing import Generic, Protocol, TypeVar

from django.apps import AppConfig
from django.core.exceptions import ImproperlyConfigured


class Named(Protocol):
    """Whatever goes into a registry has a name of its own there."""

    @property
    def name(self) -> str: ...


Item = TypeVar("Item", bound=Named)


class Registry(Generic[Item]):
    """Declarations of one kind by their names, in the order in which the apps are installed."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._items: dict[str, Item] = {}

    def add(self, *items: Item) -> None:
        """Add declarations; a name that is there already is a mistake of the programmer's."""
        for item in items:
            if item.name in self._items:
                raise ImproperlyConfigured(f"There are two {self.kind} named {item.name}.")
            self._items[item.name] = item

    def get(self, name: str) -> Item | None:
        return self._items.get(name)

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items.values())


def load_hooks(app: AppConfig) -> None:
    """Import the `hooks` module of an app, whose statements fill the registries. Belongs into `AppConfig.ready()`."""
    import_module(f"{app.name}.hooks")
