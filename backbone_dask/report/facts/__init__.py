"""What a run's files say, as small frozen values that a page can show and a test can count."""
