"""Feature stores: on disk, in memory, or virtual."""
