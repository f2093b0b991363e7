"""The pages' words in every language: found in the code, kept in PO files, compiled to what Django reads."""
