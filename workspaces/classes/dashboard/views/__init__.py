"""The pages about staff and group classes."""
