"""From stored rows to compared cells: which numbers stand beside each other, and what was judged of them."""
