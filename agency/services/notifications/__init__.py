"""Notifications: recorded with their cause, written for each person by a task, e-mailed at once or once a day."""
