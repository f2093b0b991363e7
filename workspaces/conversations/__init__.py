"""What a workspace and its contacts write to each other."""
