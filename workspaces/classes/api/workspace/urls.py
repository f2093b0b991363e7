"""The workspace API's routes for staff and group classes."""

from config.api.routers import routes_of
from workspaces.classes.api.workspace import views

urlpatterns = routes_of(views)
