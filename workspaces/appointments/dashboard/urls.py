"""Routes of the dashboard's pages about appointments, below `/app/` and in the namespace `app`."""

from django.urls import path

from workspaces.appointments.dashboard import appointments, booking, calendar, external_calendars, hours

urlpatterns = [
    path("calendar", calendar.Calendar.as_view(), name="calendar"),
    path("appointments", appointments.Appointments.as_view(), name="appointments"),
    path("appointments/new", booking.AppointmentNew.as_view(), name="appointment-new"),
    path("appointments/<id:uuid>", appointments.AppointmentPage.as_view(), name="appointment"),
    path("appointments/<id:uuid>/reschedule", booking.AppointmentReschedule.as_view(), name="appointment-reschedule"),
    path("appointments/<id:uuid>/cancel", appointments.AppointmentCancel.as_view(), name="appointment-cancel"),
    path("appointments/<id:uuid>/confirm", appointments.AppointmentConfirm.as_view(), name="appointment-confirm"),
    path("appointments/<id:uuid>/complete", appointments.AppointmentComplete.as_view(), name="appointment-complete"),
    path("appointments/<id:uuid>/miss", appointments.AppointmentMiss.as_view(), name="appointment-miss"),
    path("staff/<id:uuid>/hours", hours.StaffHoursPage.as_view(), name="staff-hours"),
    path("staff/<id:uuid>/time-off", hours.StaffTimeOff.as_view(), name="staff-time-off"),
    path(
        "staff/<id:uuid>/time-off/<id:time_off>/remove",
        hours.StaffTimeOffRemove.as_view(),
        name="staff-time-off-remove",
    ),
    path("staff/<id:uuid>/calendars", external_calendars.StaffCalendars.as_view(), name="staff-calendars"),
    path(
        "staff/<id:uuid>/calendars/<id:calendar>/read",
        external_calendars.StaffCalendarRead.as_view(),
        name="staff-calendar-read",
    ),
    path(
        "staff/<id:uuid>/calendars/<id:calendar>/remove",
        external_calendars.StaffCalendarRemove.as_view(),
        name="staff-calendar-remove",
    ),
    path(
        "staff/<id:uuid>/calendar-address/create",
        external_calendars.StaffFeedCreate.as_view(),
        name="staff-feed-create",
    ),
    path(
        "staff/<id:uuid>/calendar-address/renew", external_calendars.StaffFeedRenew.as_view(), name="staff-feed-renew"
    ),
    path(
        "staff/<id:uuid>/calendar-address/remove",
        external_calendars.StaffFeedRemove.as_view(),
        name="staff-feed-remove",
    ),
]
