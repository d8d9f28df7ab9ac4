"""From the files that people have to a feature store: one file per format."""
