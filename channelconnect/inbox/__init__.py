"""The inbox of providers' callbacks. The web process stores them as they come; readers read them in batches.

A reader parses a batch and groups its facts by type. Each type's handler applies all its facts at once, in the
transaction that marks the batch as read. So each body is applied once, even if a reader dies.
"""
