"""Saved views of the console's lists; everybody who may open a list may save its views."""

from agency.console.views.base import ConsoleView
from agency.models import Member
from agency.pages.tables import views

EVERYBODY = frozenset(Member.Role)


class SavedViewNew(views.SavedViewNew, ConsoleView):
    writers = EVERYBODY
    form_page = "console:home"


class SavedViewRemove(views.SavedViewRemove, ConsoleView):
    writers = EVERYBODY
    form_page = "console:home"
