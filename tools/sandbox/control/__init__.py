"""The parts that tests and integrators control: scenarios with people and faults, callbacks, and the ledger."""
