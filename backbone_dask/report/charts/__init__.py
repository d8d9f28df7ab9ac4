"""Facts as drawings: SVG that takes its colours from the page."""
