"""What is read of a request: who sends it, its path's ids, its query string and its body."""
