"""The servers themselves: their programs, data folders and processes, and how they are started and stopped."""
