"""What console, dashboard and public pages share: lists, menus, forms, the activity log's texts, error pages."""
