"""Every change of appointments, working hours and the booking page: one verb, one function, one transaction."""
