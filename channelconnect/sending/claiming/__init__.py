"""Claims messages: the turns of channels, the room for their messages, and the thread that claims."""
