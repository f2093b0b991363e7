"""What may stand in a contact's fields, and the form and columns in which it is kept."""
