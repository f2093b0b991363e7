"""Mutations: the product broken on purpose, which the instrument has to notice."""
