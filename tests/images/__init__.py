"""Pictures that tests make and read."""
