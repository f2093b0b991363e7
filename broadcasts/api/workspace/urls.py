"""Paths of the workspace API about broadcasts."""

from broadcasts.api.workspace import moves, previews, views
from config.api.routers import routes_of

urlpatterns = routes_of(views, moves, previews)
