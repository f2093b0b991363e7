"""What the fields of a broadcast may hold, each checked against the others and against what they name."""
