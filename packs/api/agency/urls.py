"""URLs of the agency API about packs."""

from config.api.routers import routes_of
from packs.api.agency.views import entries, imports, packs

urlpatterns = routes_of(packs, entries, imports)
