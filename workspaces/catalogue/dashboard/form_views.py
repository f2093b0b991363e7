"""Shared pages of the catalogue and of classes: forms with one look, and questions before a deletion."""

from typing import Any

from agency.pages.forms import ConfirmationForm
from agency.pages.registry import StrOrPromise
from agency.pages.views import FormOf
from workspaces.catalogue.models import PRICE_DECIMALS
from workspaces.catalogue.services.services import price_decimals
from workspaces.subaccounts.dashboard.base import DashboardForm
from workspaces.subaccounts.models import Workspace

Link = tuple[StrOrPromise, str]


def shown_decimals(workspace: Workspace) -> int:
    """Give the argument of the filter `number` for prices.

    If the currency has no decimals it is negative, so that only prices with decimals show them.
    """
    return price_decimals(workspace.currency) or -PRICE_DECIMALS


class ObjectFormView(DashboardForm[FormOf]):
    """A page with one form. `crumbs` lead back to the pages above it, `links` to related pages."""

    template_name = "catalogue/form.html"

    def heading(self) -> str:
        """Give the page's heading. Each page overrides this."""
        raise NotImplementedError

    def submit(self) -> str:
        """Give the label of the button. Each page overrides this."""
        raise NotImplementedError

    def crumbs(self) -> list[Link]:
        return []

    def links(self) -> list[Link]:
        return []

    def context(self) -> dict[str, Any]:
        return {"heading": self.heading(), "submit": self.submit(), "crumbs": self.crumbs(), "links": self.links()}


class ConfirmView(ObjectFormView[ConfirmationForm]):
    """A page that asks for confirmation before something is deleted. `text` explains the consequences."""

    def text(self) -> str:
        return ""

    def make_form(self, data: Any = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def context(self) -> dict[str, Any]:
        return {**super().context(), "text": self.text(), "danger": True}
