"""How fast, how soon and how fairly the dispatcher delivers."""
