"""What people do every day, with a mouse, by keyboard alone and without JavaScript."""
