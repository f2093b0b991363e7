"""The workspace API's routes for products and services."""

from config.api.routers import routes_of
from workspaces.catalogue.api.workspace import views

urlpatterns = routes_of(views)
