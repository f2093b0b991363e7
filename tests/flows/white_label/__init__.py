"""Agencies on hosts of their own: nobody there meets another agency, or the product."""
