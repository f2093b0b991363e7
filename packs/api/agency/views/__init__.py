"""The agency surface's views of packs."""

from packs.api.agency.views.entries import PackEntryViewSet
from packs.api.agency.views.imports import ImportViewSet
from packs.api.agency.views.packs import LibraryViewSet, PackViewSet, VisibilityViewSet

__all__ = ["ImportViewSet", "LibraryViewSet", "PackEntryViewSet", "PackViewSet", "VisibilityViewSet"]
