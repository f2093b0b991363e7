"""What packs add to the customers' dashboard: the gallery and installs."""
