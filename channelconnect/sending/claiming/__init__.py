"""What claims messages: whose turn it is, what there is room for, and the thread that takes them."""
