"""Saved views of the dashboard's lists. Each belongs to one user."""

from agency.pages.tables import views
from workspaces.subaccounts.dashboard.surface import DashboardView


class SavedViewNew(views.SavedViewNew, DashboardView):
    form_page = "app:home"


class SavedViewRemove(views.SavedViewRemove, DashboardView):
    form_page = "app:home"
