"""URLs of the workspace API about contacts and segments."""

from config.api.routers import routes_of
from workspaces.contacts.api.workspace import views

urlpatterns = routes_of(views)
