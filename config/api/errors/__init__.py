"""The API's errors: refusals that belong to HTTP, unexpected faults, and the answer to each."""
