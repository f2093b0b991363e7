"""Who a contact is on each channel: people found and made, two that become one, what networks tell of them."""
