"""What the pages of the catalogue and of classes share: forms in one look, and questions before a deletion."""

from typing import Any

from agency.pages.forms.forms import Confirmation
from agency.pages.forms.page import FormOf
from agency.pages.registry import StrOrPromise
from workspaces.catalogue.models.services import PRICE_DECIMALS
from workspaces.catalogue.services.prices import price_decimals
from workspaces.subaccounts.dashboard.surface import DashboardForm
from workspaces.subaccounts.models import Workspace

Link = tuple[StrOrPromise, str]


def shown_decimals(workspace: Workspace) -> int:
    """Give with how many decimals `floatformat` writes prices; where the currency has none, those of odd ones."""
    return price_decimals(workspace.currency) or -PRICE_DECIMALS


class EntryForm(DashboardForm[FormOf]):
    """A page that is one form; `crumbs` lead back to where it was reached from, `links` to what belongs to it."""

    template_name = "catalogue/form.html"

    def heading(self) -> str:
        """Give the page's heading. Every page has its own."""
        raise NotImplementedError

    def submit(self) -> str:
        """Give the words of the button. Every page has its own."""
        raise NotImplementedError

    def crumbs(self) -> list[Link]:
        return []

    def links(self) -> list[Link]:
        return []

    def context(self) -> dict[str, Any]:
        return {
            "heading": self.heading(),
            "submit": self.submit(),
            "crumbs": self.crumbs(),
            "links": self.links(),
        }


class EntryQuestion(EntryForm[Confirmation]):
    """A page that asks before something is gone; `text` says what that means."""

    def text(self) -> str:
        return ""

    def make_form(self, data: Any = None) -> Confirmation:
        return Confirmation(data)

    def context(self) -> dict[str, Any]:
        return {**super().context(), "text": self.text(), "danger": True}
