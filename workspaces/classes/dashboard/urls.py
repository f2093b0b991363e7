"""Routes of the dashboard's pages about staff and group classes, below `/app/` and in the namespace `app`."""

from django.urls import path

from workspaces.classes.dashboard.views import classes, staff

urlpatterns = [
    path("staff", staff.StaffList.as_view(), name="staff"),
    path("staff/new", staff.StaffNew.as_view(), name="staff-new"),
    path("staff/<id:uuid>", staff.StaffPage.as_view(), name="staff-member"),
    path("staff/<id:uuid>/delete", staff.StaffDelete.as_view(), name="staff-delete"),
    path("classes", classes.Classes.as_view(), name="classes"),
    path("classes/new", classes.ClassNew.as_view(), name="class-new"),
    path("classes/<id:uuid>", classes.ClassPage.as_view(), name="class"),
    path("classes/<id:uuid>/cancel", classes.ClassCancel.as_view(), name="class-cancel"),
    path("classes/<id:uuid>/participants", classes.ParticipantAdd.as_view(), name="class-participant-add"),
    path(
        "classes/<id:uuid>/participants/<id:contact>/remove",
        classes.ParticipantRemove.as_view(),
        name="class-participant-remove",
    ),
]
