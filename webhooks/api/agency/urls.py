"""URLs of the agency API about webhooks."""

from config.api.routers import routes_of
from webhooks.api.agency import views

urlpatterns = routes_of(views)
