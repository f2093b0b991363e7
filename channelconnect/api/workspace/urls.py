"""Paths of the workspace API about message templates."""

from django.urls import path

from channelconnect.api.workspace.views import MessageTemplateViewSet, TemplateSyncViewSet

urlpatterns = [
    path("templates", MessageTemplateViewSet.as_view({"get": "list"}), name="templates-list"),
    path("templates/sync", TemplateSyncViewSet.as_view({"post": "create"}), name="templates-sync-list"),
]
