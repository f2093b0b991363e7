"""The system under test: servers with durable data, and the product's processes as its own plan starts them."""
