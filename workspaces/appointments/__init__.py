"""Appointments: working hours, free times, bookings, the booking page and its visitors."""
