"""How a factory calls the service that makes what it gives."""

from typing import Any, TypeVar

from django.utils.timezone import now
from factory.base import Factory
from factory.declarations import LazyFunction

from agency.actors import SYSTEM

Made = TypeVar("Made")

A_MOMENT_AGO = LazyFunction(now)


class ByService(Factory[Made]):
    """Hands the declared values to `make`, which calls the service."""

    class Meta:
        abstract = True

    by = SYSTEM

    @classmethod
    def _create(cls, model_class: type[Made], *args: Any, **values: Any) -> Made:
        return cls.make(**values)

    @classmethod
    def make(cls, **values: Any) -> Made:
        """Call the service that makes one. Each factory has its own."""
        raise NotImplementedError
