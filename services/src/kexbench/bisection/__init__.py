"""The search for the commit of a library that changed what handshakes cost, as a question and its runs."""
