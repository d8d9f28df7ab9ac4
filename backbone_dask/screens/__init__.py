"""Screens: one block of columns in, utilities out."""
