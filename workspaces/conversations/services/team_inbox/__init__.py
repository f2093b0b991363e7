"""What people of a workspace do in the inbox that they share: read, assign, put aside, note, reply with kept texts."""
