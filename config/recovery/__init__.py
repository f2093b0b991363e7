"""After a restore or a fail-over, nothing is sent before somebody has said what the database has lost."""
