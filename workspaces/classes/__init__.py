"""Group classes: staff, sessions with seats, and who takes part."""
