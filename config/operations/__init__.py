"""Commands that operators run beside the system: the first agency, the demonstration, new encryption keys."""
