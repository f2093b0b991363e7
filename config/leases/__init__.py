"""A queue of rows that worker processes lease. This package does not depend on what the rows are.

An app brings its tables and statements, a `Claimer`, a `Recorder`, and the loop between them.
"""
