"""From invocation medians to estimates and comparisons: pure functions over numbers."""
