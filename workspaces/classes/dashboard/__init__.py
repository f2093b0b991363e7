"""The dashboard's pages about classes and series of classes."""
