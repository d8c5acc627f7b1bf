"""The articles that specs repeat."""

from kexbench.answers.articles import Articles, articles
from kexbench.api.caching import KeptRoute
from kexbench.api.dependencies import TheStore
from kexbench.api.gate import api_router

router = api_router(route_class=KeptRoute, tags=["reading"])


@router.get("/articles", operation_id="articles")
def get_articles(store: TheStore) -> Articles:
    """The articles whose measurements specs of this project repeat, each with the newest finished run of its spec."""
    return articles(store)
