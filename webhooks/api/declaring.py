"""Lets one view class serve both API surfaces, each with its own serializers and operations."""

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
    """A surface's serializers, its filters of the delivery log, and the name of its field with the public id."""

    endpoint: type[Serializer]
    endpoint_with_secret: type[Serializer]
    test: type[Serializer]
    replay: type[Serializer]
    delivery: type[Serializer]
    delivery_detail: type[Serializer]
    filters: type[FilterSet]
    id_name: str
    # Whether even short lists have pages, with `links` and `meta`.
    has_pages: bool = False

    @property
    def queued(self) -> dict[str, Any]:
        """The document's example of a delivery that was just created."""
        return {
            **self.delivery.example(),
            "status": "pending",
            "attempts": 0,
            "response_status": None,
            "next_attempt_at": "2026-11-20T09:30:00Z",
            "completed_at": None,
        }


def declared(make: Callable[[Shapes], operation]) -> Callable[[Handler], Handler]:
    """Declare an action whose operation is made from the shapes of the surface."""

    def mark(handler: Handler) -> Handler:
        handler.__dict__["make_operation"] = make
        return handler

    return mark


class DeclaredForSurface:
    """A mixin for views with `declared` actions. A subclass with `shapes` gets its own operation for each action."""

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
    """Copy a function, because a declaration sets attributes on the function that it decorates."""
    copied = FunctionType(
        handler.__code__, handler.__globals__, handler.__name__, handler.__defaults__, handler.__closure__
    )
    copied.__kwdefaults__ = handler.__kwdefaults__
    copied.__qualname__, copied.__module__, copied.__doc__ = handler.__qualname__, handler.__module__, handler.__doc__
    # A declaration puts its schema into `kwargs`, so they are copied too.
    copied.__dict__.update({name: dict(kept) if name == "kwargs" else kept for name, kept in handler.__dict__.items()})
    return copied
