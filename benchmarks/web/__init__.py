"""What the web server does under slow senders, a silent database and restarts."""
