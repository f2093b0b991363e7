"""What the pages of the catalogue and of classes share: forms in one look, and questions before a deletion."""

from typing import Any

from agency.pages.forms.forms import Confirmation
from agency.pages.forms.page import FormOf
from agency.pages.registry import StrOrPromise
from workspaces.subaccounts.dashboard.surface import DashboardForm

Link = tuple[StrOrPromise, str]


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
