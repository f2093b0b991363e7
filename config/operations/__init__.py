"""What an operator runs beside the system: the first agency, the demonstration, new encryption keys."""
