"""PostgreSQL and Valkey: their programs, data folders and processes, and how they are started and stopped."""
