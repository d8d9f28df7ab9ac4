"""Running the method: executors, phases, checkpoints, events."""
