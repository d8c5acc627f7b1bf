"""What goes wrong here, in words that end with the remedy."""


class DevclusterError(Exception):
    """Shown to the user as it is, without a traceback."""
