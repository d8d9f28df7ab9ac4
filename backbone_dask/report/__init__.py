"""What a run found, in words and numbers."""
