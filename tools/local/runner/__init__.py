"""The development runner: the processes of one system, kept together from their start to their end."""
