"""The workspace API's routes for the workspace and its channels."""

from config.api.routers import routes_of
from workspaces.subaccounts.api.workspace import views

urlpatterns = routes_of(views)
