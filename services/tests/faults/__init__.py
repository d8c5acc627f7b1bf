"""A campaign of seeded faults against a real service: `make test-faults`."""
