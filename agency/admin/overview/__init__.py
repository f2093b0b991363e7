"""Support's overview of one agency, and its search over all agencies."""

from agency.admin.overview.views import find_page, overview_page

__all__ = ["find_page", "overview_page"]
