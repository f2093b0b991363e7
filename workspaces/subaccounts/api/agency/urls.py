"""Paths of the agency surface about sub-accounts."""

from config.api.routers import routes_of
from workspaces.subaccounts.api.agency import views

urlpatterns = routes_of(views)
