"""The tables of appointments."""

from workspaces.appointments.models.appointments import Appointment, Hold, Occupancy
from workspaces.appointments.models.booking_pages import BookingPage, ClassBooking, VisitorBooking
from workspaces.appointments.models.hours import (
    CalendarFeed,
    ExternalBusy,
    ExternalCalendar,
    HoursException,
    TimeOff,
    WorkingHours,
)

__all__ = [
    "Appointment",
    "BookingPage",
    "CalendarFeed",
    "ClassBooking",
    "ExternalBusy",
    "ExternalCalendar",
    "Hold",
    "HoursException",
    "Occupancy",
    "TimeOff",
    "VisitorBooking",
    "WorkingHours",
]
