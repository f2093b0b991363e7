"""URLs of the agency API about packs."""

from django.urls import path

from packs.api.agency.views.entries import PackEntryViewSet
from packs.api.agency.views.imports import ImportViewSet
from packs.api.agency.views.packs import LibraryViewSet, PackViewSet, VisibilityViewSet

urlpatterns = [
    path("packs", PackViewSet.as_view({"get": "list", "post": "create"}), name="packs-list"),
    path("packs/visibility", VisibilityViewSet.as_view({"get": "retrieve", "put": "update"}), name="packs-visibility"),
    path("packs/order", PackViewSet.as_view({"put": "order"}), name="packs-order"),
    path("packs/library", LibraryViewSet.as_view({"get": "list"}), name="packs-library-list"),
    path("packs/import/preview", ImportViewSet.as_view({"get": "preview"}), name="packs-import-preview"),
    path("packs/import/sources", ImportViewSet.as_view({"get": "sources"}), name="packs-import-sources"),
    path(
        "packs/<id:pack>",
        PackViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="packs-detail",
    ),
    path("packs/<id:pack>/entries", PackEntryViewSet.as_view({"post": "create"}), name="packs-entries-list"),
    path("packs/<id:pack>/entries/order", PackEntryViewSet.as_view({"put": "order"}), name="packs-entries-order"),
    path(
        "packs/<id:pack>/entries/<id:entry>",
        PackEntryViewSet.as_view({"patch": "partial_update", "delete": "destroy"}),
        name="packs-entries-detail",
    ),
]
