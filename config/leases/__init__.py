"""A queue of rows that worker processes lease: what is general about it, whatever the rows are.

An app brings its tables and statements, a `Claimer`, a `Recorder`, and the loop between them.
"""
