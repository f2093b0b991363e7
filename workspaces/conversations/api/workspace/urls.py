"""URLs of the workspace API about conversations and messages."""

from config.api.routers import routes_of
from workspaces.conversations.api.workspace import views

urlpatterns = routes_of(views)
