"""Group classes: staff, sessions with seats, and participants."""
