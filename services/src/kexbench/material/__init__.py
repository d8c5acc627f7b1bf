"""Keys, certificates and DH parameters of the cases: made once, with the same bytes for every subject."""
