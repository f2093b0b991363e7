"""Paths of the agency surface about packs; those without an id come before `packs/<id:pack>`."""

from django.urls import path

from config.api.routers import SurfaceRouter
from packs.api.agency.views import ImportViewSet, LibraryViewSet, PackEntryViewSet, PackViewSet, VisibilityViewSet

router = SurfaceRouter()
router.register("packs/library", LibraryViewSet, basename="pack-library")
router.register("packs/import", ImportViewSet, basename="pack-import")
router.register("packs", PackViewSet, basename="pack")
router.register("packs/<id:pack>/entries", PackEntryViewSet, basename="pack-entry")
urlpatterns = [
    path("packs/visibility", VisibilityViewSet.as_view({"get": "retrieve", "put": "update"}), name="pack-visibility"),
    *router.urls,
]
