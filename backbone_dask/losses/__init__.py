"""Loss functions: value, dual and ridge fit on a support."""
