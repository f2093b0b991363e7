"""Paths of the agency surface that the agency itself answers."""

from agency.api import views
from config.api.routers import routes_of

urlpatterns = routes_of(views)
