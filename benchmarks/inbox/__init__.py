"""How fast providers' callbacks are read, and how fast they are taken meanwhile."""
