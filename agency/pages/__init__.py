"""What console, dashboard and public pages share: lists, menus, forms, texts of the activity log, error pages."""
