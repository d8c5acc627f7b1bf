"""What routes are handed: the store, and the secret that signs upload tokens."""

from typing import Annotated, cast

from fastapi import Depends, Request

from kexbench.store.port import Store


def _store(request: Request) -> Store:
    return cast(Store, request.app.state.store)


def _secret(request: Request) -> str:
    return cast(str, request.app.state.secret)


TheStore = Annotated[Store, Depends(_store)]
TheSecret = Annotated[str, Depends(_secret)]
