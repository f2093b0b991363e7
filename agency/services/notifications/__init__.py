"""Notifications: recorded with what happened, written for each person by a task, mailed at once or once a day."""
