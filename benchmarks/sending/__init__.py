"""How fast messages leave, from their rows to the record of what the provider answered."""
