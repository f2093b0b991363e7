"""What support sees of one agency on one page, and finds among all of them on another."""

from agency.admin.overview.views import find_page, overview_page

__all__ = ["find_page", "overview_page"]
