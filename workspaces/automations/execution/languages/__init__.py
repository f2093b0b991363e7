"""The words of the languages in which contacts answer, and the form in which texts are compared."""
