"""Exports: lists as files, begun in the console, written piece by piece, downloaded while they are kept."""
