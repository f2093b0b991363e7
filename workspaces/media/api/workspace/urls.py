"""The workspace API's routes for media."""

from config.api.routers import routes_of
from workspaces.media.api.workspace import views

urlpatterns = routes_of(views)
