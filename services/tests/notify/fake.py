"""A channel that notes what it is sent."""

from kexbench.notify.port import ChannelError, Letter


class FakeChannel:
    """Implements Channel; refuses while it has a reason to."""

    def __init__(self) -> None:
        self.letters: list[Letter] = []
        self.refusal = ""

    def send(self, letter: Letter) -> None:
        if self.refusal:
            raise ChannelError(self.refusal)
        self.letters.append(letter)
