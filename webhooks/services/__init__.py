"""The services of webhook endpoints and deliveries. Each change is one function and one transaction."""
