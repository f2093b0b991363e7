"""After a restore or a fail-over: nothing leaves before somebody has said what the database has forgotten."""
