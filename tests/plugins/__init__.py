"""Plugins for pytest: they order and repeat tests, measure where time goes, and say why a test is red."""
