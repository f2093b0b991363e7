"""What people do every day, by keyboard alone and without JavaScript."""
