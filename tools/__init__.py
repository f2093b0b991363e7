"""Local servers, a demonstration and a stand-in provider. The product never imports them."""
