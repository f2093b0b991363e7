"""The receivers: they check whatever comes, fail as planned, and remember what they answered."""
