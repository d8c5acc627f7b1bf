"""Questions that people ask of results, one a file: what an answer holds, and how it is made from the store."""
