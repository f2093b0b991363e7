"""URLs of the workspace API about webhooks."""

from config.api.routers import routes_of
from webhooks.api.workspace import views

urlpatterns = routes_of(views)
