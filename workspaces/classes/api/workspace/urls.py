"""The workspace API's routes for staff and group classes."""

from django.urls import path

from workspaces.classes.api.workspace.views import ClassSessionViewSet, ParticipantViewSet, StaffViewSet

urlpatterns = [
    path("staff", StaffViewSet.as_view({"get": "list", "post": "create"}), name="staff-list"),
    path("classes", ClassSessionViewSet.as_view({"get": "list", "post": "create"}), name="classes-list"),
    path(
        "staff/<id:staff>",
        StaffViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="staff-detail",
    ),
    path("classes/<id:session>", ClassSessionViewSet.as_view({"get": "retrieve"}), name="classes-detail"),
    path("classes/<id:session>/cancel", ClassSessionViewSet.as_view({"post": "cancel"}), name="classes-cancel"),
    path(
        "classes/<id:session>/participants",
        ParticipantViewSet.as_view({"get": "list", "post": "create"}),
        name="classes-participants-list",
    ),
    path(
        "classes/<id:session>/participants/<id:contact>",
        ParticipantViewSet.as_view({"delete": "destroy"}),
        name="classes-participants-detail",
    ),
]
