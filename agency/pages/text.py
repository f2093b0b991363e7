"""Text for people."""

from django.utils.functional import Promise

# Promises are what `gettext_lazy` gives: translated when a page is rendered.
StrOrPromise = str | Promise
