"""The development runner: starts the processes of one system, watches them and ends them together."""
