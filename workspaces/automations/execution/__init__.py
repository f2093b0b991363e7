"""Runs a flow without a database: the interpreter, its steps, answers, keywords and the simulator."""
