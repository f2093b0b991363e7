"""The addresses of the public booking pages, below `/book/`."""

from django.urls import path

from workspaces.appointments.public import choosing, deposits, details, managing

app_name = "book"
urlpatterns = [
    path("manage/<str:token>", managing.Manage.as_view(), name="manage"),
    path("manage/<str:token>/appointment.ics", managing.CalendarFile.as_view(), name="calendar-file"),
    path("manage/<str:token>/times", managing.MoveTimes.as_view(), name="move-times"),
    path("manage/<str:token>/move", managing.Move.as_view(), name="move"),
    path("manage/<str:token>/cancel", managing.Cancel.as_view(), name="cancel"),
    path("<slug:slug>", choosing.Services.as_view(), name="services"),
    path("<slug:slug>/code/<id:booking>", details.Code.as_view(), name="code"),
    path("<slug:slug>/deposit/<id:booking>", deposits.Deposit.as_view(), name="deposit"),
    path("<slug:slug>/<id:service>", choosing.Times.as_view(), name="times"),
    path("<slug:slug>/<id:service>/details", details.Details.as_view(), name="details"),
]
