"""The dashboard's views of broadcasts: the list, the composer, a broadcast's page and its actions."""
