"""Numbered SQL files, applied once each and in order; a file that was applied is never edited."""
