"""The agency API's routes for sub-accounts."""

from config.api.routers import routes_of
from workspaces.subaccounts.api.agency import keys, views

urlpatterns = routes_of(views, keys)
