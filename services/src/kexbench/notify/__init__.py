"""Notifications about alerts: their wording, when they are due, and the channels that send them.

Everything except the adapter (`apprise_channel.py`) is pure. The loop that sends is in `kexbench/notifier.py`.

- `writing.py`, `words.py`: which notifications an event gives, for which channels, and their wording. Start here.
- `outbox.py`: which messages are due; `letters.py`: the messages.
- `port.py`, `apprise_channel.py`: the interface of a channel, and its adapter.
- `feed.py`: the Atom feed of upgrades and alerts.
"""
