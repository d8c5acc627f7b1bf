"""From invocations to estimates and comparisons: pure functions over numbers."""
