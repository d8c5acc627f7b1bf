"""What every channel does."""

import pytest

from kexbench.notify.port import ChannelError, Letter
from tests.notify.conftest import Stage

LETTER = Letter("0123456789abcdef", "OpenSSL is slower", "by 5%\n\nÄ «more» 'here'", "by **5%**")


def test_a_letter_arrives_with_its_key_as_often_as_it_is_sent(stage: Stage) -> None:
    for _ in range(2):
        stage.channel.send(LETTER)
    assert stage.arrived() == [(LETTER.key, LETTER.title, LETTER.text)] * 2


def test_a_refusal_says_why_and_nothing_arrived_and_later_it_does(stage: Stage) -> None:
    stage.refuse()
    with pytest.raises(ChannelError) as refused:
        stage.channel.send(LETTER)
    assert str(refused.value)
    assert stage.arrived() == []
    stage.relent()
    stage.channel.send(LETTER)
    assert len(stage.arrived()) == 1
