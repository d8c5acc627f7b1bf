"""From stored rows to compared cells with verdicts."""
