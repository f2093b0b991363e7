"""The workspace API's routes for automations."""

from config.api.routers import routes_of
from workspaces.automations.api.workspace import views

urlpatterns = routes_of(views)
