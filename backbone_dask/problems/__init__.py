"""Problem classes: the five functions wired together."""
