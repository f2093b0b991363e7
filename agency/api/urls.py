"""The agency app's own paths on the agency surface."""

from agency.api import views
from config.api.routers import routes_of

urlpatterns = routes_of(views)
