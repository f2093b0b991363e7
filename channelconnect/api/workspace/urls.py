"""Paths of the workspace API about message templates."""

from channelconnect.api.workspace import views
from config.api.routers import routes_of

urlpatterns = routes_of(views)
