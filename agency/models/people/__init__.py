"""People who sign in or are about to, and what shows that it is them."""
