"""URLs of the workspace API about contacts and segments."""

from django.urls import path

from workspaces.contacts.api.workspace.views import (
    ContactImportViewSet,
    ContactMergeViewSet,
    ContactViewSet,
    SegmentViewSet,
)

urlpatterns = [
    path("contacts", ContactViewSet.as_view({"get": "list", "post": "create"}), name="contacts-list"),
    path("segments", SegmentViewSet.as_view({"get": "list", "post": "create"}), name="segments-list"),
    path("contacts/import", ContactImportViewSet.as_view({"post": "create"}), name="contacts-import-list"),
    path(
        "contacts/<id:contact>",
        ContactViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="contacts-detail",
    ),
    path(
        "segments/<id:segment>",
        SegmentViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="segments-detail",
    ),
    path("contacts/<id:contact>/merge", ContactMergeViewSet.as_view({"post": "create"}), name="contacts-merge-list"),
]
