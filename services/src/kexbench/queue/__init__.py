"""Runs that wait for their turn: planned, announced, claimed, and asked to end."""
