"""The test surfaces once more: documents are kept for each URL configuration, and these describe an event too."""

from tests.api.surfaces.urls import handler400, handler404, handler500, urlpatterns

__all__ = ["handler400", "handler404", "handler500", "urlpatterns"]
