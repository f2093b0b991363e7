"""Lists of rows: their declaration (columns, filters), what an address asks of them, and their views."""

from agency.pages.tables.declaration import Choices, Column, Filter, Table
from agency.pages.tables.state import TableState
from agency.pages.tables.views import ListPage

__all__ = ["Choices", "Column", "Filter", "ListPage", "Table", "TableState"]
