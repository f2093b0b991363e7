"""URLs of the gallery's pages, below `/app/` and in the namespace `app`."""

from django.urls import path

from packs.dashboard import views

urlpatterns = [
    path("gallery", views.Gallery.as_view(), name="gallery"),
    path("gallery/<id:uuid>", views.PackPage.as_view(), name="pack"),
    path("gallery/<id:uuid>/install", views.PackInstall.as_view(), name="pack-install"),
]
