"""From a spec's text to a plan: pure functions, no clock, no randomness, no network."""
