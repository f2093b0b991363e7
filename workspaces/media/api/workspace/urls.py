"""The workspace API's routes for media."""

from django.urls import path

from workspaces.media.api.workspace.views import MediaViewSet

urlpatterns = [
    path("media", MediaViewSet.as_view({"get": "list", "post": "create"}), name="media-list"),
    path("media/<id:media>", MediaViewSet.as_view({"get": "retrieve", "delete": "destroy"}), name="media-detail"),
]
