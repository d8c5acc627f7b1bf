"""The HTTP interface: what is stored, read through fixed questions, and uploads from runners."""
