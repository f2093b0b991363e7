"""What a sub-account holds: its plan, its add-ons, its limits, and how much of them it uses."""
