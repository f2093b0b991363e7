"""Local servers, a demonstration and a sandbox provider. The product never imports them."""
