"""Messages that go out: what they may hold, how they are queued, and what came of them."""
