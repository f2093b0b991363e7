"""How a broadcast goes on by itself: begun, prepared, completed, its rest skipped."""
