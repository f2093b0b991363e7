"""What the run of the tests can do beyond pytest: say where time goes, say why a test is red, pursue chance."""
