"""The addresses of the public booking pages, below `/book/`."""

from django.urls import path

from workspaces.appointments.public import choosing, classes, codes, deposits, details, managing

app_name = "book"
urlpatterns = [
    path("manage/<str:token>", managing.Manage.as_view(), name="manage"),
    path("manage/<str:token>/appointment.ics", managing.CalendarFile.as_view(), name="calendar-file"),
    path("manage/<str:token>/times", managing.MoveTimes.as_view(), name="move-times"),
    path("manage/<str:token>/move", managing.Move.as_view(), name="move"),
    path("manage/<str:token>/cancel", managing.Cancel.as_view(), name="cancel"),
    path("seat/<str:token>", managing.Seat.as_view(), name="seat"),
    path("seat/<str:token>/class.ics", managing.SeatFile.as_view(), name="seat-file"),
    path("seat/<str:token>/give-back", managing.GiveBack.as_view(), name="give-back"),
    path("<slug:slug>", choosing.Services.as_view(), name="services"),
    path("<slug:slug>/code/<id:booking>", codes.Code.as_view(), name="code"),
    path("<slug:slug>/deposit/<id:booking>", deposits.Deposit.as_view(), name="deposit"),
    path("<slug:slug>/classes/<id:service>", classes.Classes.as_view(), name="classes"),
    path("<slug:slug>/classes/<id:service>/<id:session>", classes.BookClass.as_view(), name="class"),
    path("<slug:slug>/<id:service>", choosing.Times.as_view(), name="times"),
    path("<slug:slug>/<id:service>/details", details.Details.as_view(), name="details"),
]
