"""Routes of the dashboard's pages about classes, below `/app/` and in the namespace `app`."""

from django.urls import path

from workspaces.classes.dashboard import classes, series

urlpatterns = [
    path("classes", classes.Classes.as_view(), name="classes"),
    path("classes/new", classes.ClassNew.as_view(), name="class-new"),
    path("classes/series", series.SeriesList.as_view(), name="class-series-list"),
    path("classes/series/new", series.SeriesNew.as_view(), name="class-series-new"),
    path("classes/series/<id:uuid>", series.SeriesPage.as_view(), name="class-series"),
    path("classes/series/<id:uuid>/edit", series.SeriesEdit.as_view(), name="class-series-edit"),
    path("classes/series/<id:uuid>/end", series.SeriesEnd.as_view(), name="class-series-end"),
    path("classes/<id:uuid>", classes.ClassPage.as_view(), name="class"),
    path("classes/<id:uuid>/edit", classes.ClassEdit.as_view(), name="class-edit"),
    path("classes/<id:uuid>/cancel", classes.ClassCancel.as_view(), name="class-cancel"),
    path("classes/<id:uuid>/participants", classes.ParticipantAdd.as_view(), name="class-participant-add"),
    path(
        "classes/<id:uuid>/participants/<id:contact>/remove",
        classes.ParticipantRemove.as_view(),
        name="class-participant-remove",
    ),
    path("classes/<id:uuid>/waiting-list", classes.WaitingAdd.as_view(), name="class-waiting-add"),
    path(
        "classes/<id:uuid>/waiting-list/<id:contact>/remove",
        classes.WaitingRemove.as_view(),
        name="class-waiting-remove",
    ),
]
