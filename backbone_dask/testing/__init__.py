"""Contracts and planted data for the authors of plug-ins."""
