"""Views that stand on both surfaces: written once, and declared for each in its own words."""

from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, ClassVar, TypeVar

from config.api.filters import FilterSet
from config.api.operations import operation
from config.api.serializers import Serializer

Handler = TypeVar("Handler", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Shapes:
    """The serializers of a surface, its filters of the log, and under which name it shows public ids."""

    endpoint: type[Serializer]
    endpoint_with_secret: type[Serializer]
    test: type[Serializer]
    replay: type[Serializer]
    delivery: type[Serializer]
    delivery_detail: type[Serializer]
    filters: type[FilterSet]
    id_name: str
    # Whether its lists come in pages, with `links` and `meta`, even where they are short.
    has_pages: bool = False

    @property
    def queued(self) -> dict[str, Any]:
        """A delivery that was only just made, as the document shows it."""
        return {
            **self.delivery.example(),
            "status": "pending",
            "attempts": 0,
            "response_status": None,
            "next_attempt_at": "2026-11-20T09:30:00Z",
            "completed_at": None,
        }


def declared(make: Callable[[Shapes], operation]) -> Callable[[Handler], Handler]:
    """Declare an action with the shapes of whichever surface its view is mounted on."""

    def mark(handler: Handler) -> Handler:
        handler.__dict__["make_operation"] = make
        return handler

    return mark


class DeclaredForSurface:
    """Views whose actions are `declared`: a subclass that has `shapes` gets an operation of its own for each."""

    shapes: ClassVar[Shapes]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "shapes" not in vars(cls):
            return
        for name in dir(cls):
            handler = getattr(cls, name, None)
            make = getattr(handler, "make_operation", None)
            if make and isinstance(handler, FunctionType):
                setattr(cls, name, make(cls.shapes)(_copy(handler)))


def _copy(handler: FunctionType) -> FunctionType:
    """A function of its own, as a declaration leaves its mark on what it decorates."""
    copied = FunctionType(
        handler.__code__, handler.__globals__, handler.__name__, handler.__defaults__, handler.__closure__
    )
    copied.__kwdefaults__ = handler.__kwdefaults__
    copied.__qualname__, copied.__module__, copied.__doc__ = handler.__qualname__, handler.__module__, handler.__doc__
    # What `@action` keeps is where a declaration puts its schema.
    copied.__dict__.update({name: dict(kept) if name == "kwargs" else kept for name, kept in handler.__dict__.items()})
    return copied
