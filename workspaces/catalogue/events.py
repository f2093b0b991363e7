"""Names of a workspace's events about products and services; `hooks` declares the event types."""

PRODUCT_CREATED = "product.created"
PRODUCT_UPDATED = "product.updated"
PRODUCT_DELETED = "product.deleted"
PRODUCT_OUT_OF_STOCK = "product.out_of_stock"
SERVICE_CREATED = "service.created"
SERVICE_UPDATED = "service.updated"
SERVICE_DELETED = "service.deleted"
