"""Who would get a broadcast that is still being composed: counted for the composer's page."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from broadcasts.dashboard.confirming import Forecast, forecast_of
from broadcasts.dashboard.forms import FALLBACK, ComposerForm
from broadcasts.services.editing import build_broadcast
from config.errors import DomainError
from workspaces.subaccounts.models import Workspace


@dataclass(frozen=True, slots=True)
class ComposedCount:
    """The count for a composer's page. `missing` counts who has no value, by variable."""

    context: Mapping[str, Any] = field(default_factory=dict)
    missing: Mapping[str, int] = field(default_factory=dict)

    def fallback_fields(self, form: ComposerForm) -> list[tuple[str, Any, int]]:
        """Return each variable that may have a fallback with its field and the number of contacts without a value."""
        return [(name, form[FALLBACK + name], self.missing.get(name, 0)) for name in form.fallbacks]


def count_of_composed(typed: QueryDict, workspace: Workspace) -> ComposedCount:
    """Count who would get what is typed so far. It is empty while the form does not say whom, and nothing is saved."""
    values = ComposerForm(typed, workspace=workspace).counted_values()
    if values is None:
        return ComposedCount()
    try:
        draft = build_broadcast(workspace=workspace, **values)
    except DomainError:
        return ComposedCount()
    forecast: Forecast = forecast_of(workspace, draft)
    missing = forecast.found.missing if forecast.found else {}
    return ComposedCount(forecast.context(draft), missing)
