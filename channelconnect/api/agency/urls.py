"""Paths of the agency API about connecting channels."""

from channelconnect.api.agency import views
from config.api.routers import routes_of

urlpatterns = routes_of(views)
