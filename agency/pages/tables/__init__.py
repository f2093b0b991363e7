"""Lists of rows: what each declares (columns, filters), what its address asks for, and how a page of it is shown."""

from agency.pages.tables.declaration import Choices, Column, Filter, Table
from agency.pages.tables.state import TableState
from agency.pages.tables.views import ListPage

__all__ = ["Choices", "Column", "Filter", "ListPage", "Table", "TableState"]
