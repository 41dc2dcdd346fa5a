"""The rules of the exercises' checks, one module per lesson."""
