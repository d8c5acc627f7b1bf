"""Keys, certificates and DH parameters of the cases: made once, the same bytes for every subject."""
