"""Obtaining a cluster."""
