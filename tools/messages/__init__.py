"""The texts of pages in every language: found in the code, kept in PO files, compiled to MO files for Django."""
