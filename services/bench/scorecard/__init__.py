"""`make scorecard`: how good detection is. It measures kexbench and the methods of others on the same data."""
