"""What an automation is made of: the registry of triggers and steps, and everything that follows from it alone."""
