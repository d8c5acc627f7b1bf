"""`kexbench publish`: the dashboard as a static site."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from kexbench.cli.console import err, print_json, say
from kexbench.cli.options import AsJson
from kexbench.cli.reaching import reach_api
from kexbench.domain.samples import Metric
from kexbench.publishing.site import Choice, Front, Site, publish
from kexbench.settings import Settings


def publish_site(
    folder: Annotated[
        Path, typer.Argument(help="Where to write the site: a new folder, or an earlier site.", show_default=False)
    ],
    library: Annotated[
        list[str] | None, typer.Option(help="Only this library; repeatable. Default: all.", show_default=False)
    ] = None,
    since: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%d"],
            metavar="YYYY-MM-DD",
            help="Only versions that were measured since this date (UTC).",
            show_default=False,
        ),
    ] = None,
    metric: Annotated[
        list[Metric] | None,
        typer.Option(help="Also this metric, besides CPU time; repeatable.", show_default=False),
    ] = None,
    front: Annotated[Front, typer.Option(help="The page that the site opens with.")] = "overview",
    as_json: AsJson = False,
) -> None:
    """Write the dashboard as a static site, for people who cannot reach the service.

    Any file server can serve the folder, also below a path such as /results/. The site has the matrix, trends, CPUs,
    comparisons, stacks, upgrades and downloads, but no runs, alerts or queue, and nothing that needs a token. It
    shows the names of pools, CPUs and versions.

    An earlier site is replaced as a whole. Other folders are never replaced.

    Examples:

        kexbench publish site
        kexbench publish site --library openssl --library gnutls --since 2026-01-01
        kexbench publish site --front stacks
        kexbench publish site --json | jq .files
        python -m http.server --directory site
    """
    choice = Choice(
        libraries=frozenset(library or ()),
        metrics=frozenset(metric or ()),
        since=since and since.replace(tzinfo=UTC),
        front=front,
    )
    with reach_api() as api:
        site = publish(api, Settings().pages, folder, choice, _Tenths())
    for source in site.local_sources:
        err.print(f"the site shows the path of a build: {source}", markup=False)
    if as_json:
        print_json(site.model_dump(mode="json"))
    else:
        _print(folder, site)


class _Tenths:
    """Prints a line for each tenth of the work."""

    _printed = 0

    def __call__(self, done: int, total: int) -> None:
        tenth = done * 10 // total
        if tenth > self._printed:
            self._printed = tenth
            say(f"wrote {done:,} of {total:,} matrices, trends, comparisons, stacks, upgrades and badges")


def _print(folder: Path, site: Site) -> None:
    err.print(
        f"{folder}: {site.versions} versions of {', '.join(site.libraries)}, {site.upgrades} upgrades;"
        f" {site.files:,} files, {site.size_bytes / 1e6:.1f} MB",
        markup=False,
    )
    err.print(f"to see it: python -m http.server --directory {folder}", markup=False)
