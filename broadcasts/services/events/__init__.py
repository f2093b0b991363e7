"""Events about broadcasts and about their recipients."""
