"""What a test or an integrator controls: scenarios with people and faults, callbacks, and the ledger."""
