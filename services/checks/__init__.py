"""What `make check` looks for that no linter knows."""
