"""Saved views of the dashboard's lists. Each belongs to one user."""

from agency.pages import tables
from workspaces.subaccounts.dashboard.surface import DashboardView


class SavedViewNew(tables.SavedViewNew, DashboardView):
    form_page = "app:home"


class SavedViewRemove(tables.SavedViewRemove, DashboardView):
    form_page = "app:home"
