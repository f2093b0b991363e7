"""What the test run itself can do beyond pytest: say where time goes, why a test is red, and pursue one that fails by chance."""
