"""The errors of the watcher, in a module of their own: the code that reads repositories is slow to import."""


class SourceError(Exception):
    """A repository could not be read. The text says why, with a remedy."""
