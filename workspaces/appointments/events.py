"""Names of a workspace's events about appointments; `hooks` declares the event types."""

APPOINTMENT_BOOKED = "appointment.booked"
APPOINTMENT_CONFIRMED = "appointment.confirmed"
APPOINTMENT_RESCHEDULED = "appointment.rescheduled"
APPOINTMENT_CANCELLED = "appointment.cancelled"
APPOINTMENT_COMPLETED = "appointment.completed"
APPOINTMENT_MISSED = "appointment.missed"
