"""Notifications about alerts: their wording, when they are due, and the channels that send them.

Everything except the adapter (`apprise_channel.py`) is pure. The loop that sends is in `notifier.py`.
"""
