"""The command line: one file a verb; it computes nothing that the API does not."""
