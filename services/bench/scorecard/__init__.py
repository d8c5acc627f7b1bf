"""`make scorecard`: how good detection is, measured anew each time, beside the methods of others on the same data."""
