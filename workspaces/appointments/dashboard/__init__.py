"""Appointments in the customers' dashboard: the calendar, appointments, working hours."""
