"""Tells people of alerts: what is said in which words, what of it is due, and how it gets to its channel.

Everything but the adapter (`apprise_channel.py`) is pure; what runs is in `notifier.py`.
"""
