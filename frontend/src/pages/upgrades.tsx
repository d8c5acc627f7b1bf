// Upgrades: each version of a library and the one before it, those that were measured last first.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { Filters, UpgradeView } from "@/api/generated";
import { filtersOptions, upgradesOptions } from "@/api/generated/@tanstack/react-query.gen";
import { libraryOf, libraryTitle } from "@/components/libraries";
import { UpgradeStory } from "@/components/UpgradeStory";
import { titleOf } from "@/components/upgrade-model";
import { count, dateTime } from "@/format";
import { paths } from "@/paths";
import { Select } from "@/ui/Fields";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/upgrades");
const PAGE = 30;

export function UpgradesPage() {
  const { library, before } = route.useSearch();
  const filters = useQuery(filtersOptions());
  const found = useQuery({
    ...upgradesOptions({ query: { library: libraryOf(library), before, limit: PAGE } }),
    placeholderData: keepPreviousData,
  });
  useTitle("Upgrades");
  const next = found.data?.next_before;
  return (
    <>
      <h1>What each upgrade cost</h1>
      {filters.data && <LibraryChoice filters={filters.data} />}
      {found.data ? (
        <Upgrades upgrades={found.data.upgrades} />
      ) : found.isError ? (
        <Failed error={found.error} retry={() => void found.refetch()} />
      ) : (
        <Loading what="the upgrades" />
      )}
      <nav className="pager" aria-label="Pages of upgrades">
        {before && <Link {...paths.upgrades({ library })}>Newest</Link>}
        {next && <Link {...paths.upgrades({ library, before: next })}>Older</Link>}
      </nav>
    </>
  );
}

function LibraryChoice({ filters: { libraries } }: { filters: Filters }) {
  const { library = "" } = route.useSearch();
  const navigate = route.useNavigate();
  if (libraries.length < 2) return null;
  return (
    <form className="controls" aria-label="What to show" onSubmit={(event) => event.preventDefault()}>
      <Select
        label="Library"
        value={library}
        choices={[{ value: "", label: "all" }, ...libraries.map((name) => ({ value: name, label: name }))]}
        choose={(name) => void navigate({ search: { library: name || undefined }, replace: true })}
      />
    </form>
  );
}

function Upgrades({ upgrades }: { upgrades: UpgradeView[] }) {
  if (upgrades.length === 0) return <NothingYet />;
  return [...new Set(upgrades.map((one) => one.library))].map((library) => (
    <section key={library}>
      <h2>{libraryTitle(library)}</h2>
      <ul className="runs">
        {upgrades
          .filter((one) => one.library === library)
          .map((one) => (
            <li key={`${one.before.subject} ${one.after.subject}`} className="commit">
              <OneUpgrade upgrade={one} />
            </li>
          ))}
      </ul>
    </section>
  ));
}

function OneUpgrade({ upgrade }: { upgrade: UpgradeView }) {
  const { library, before, after, measured_at, cells } = upgrade;
  return (
    <>
      <h3>
        <Link {...paths.upgrade(library, before.subject, after.subject)}>{titleOf(upgrade)}</Link>
      </h3>
      <p>
        {before.source} → {after.source}, measured <time dateTime={measured_at}>{dateTime(measured_at)}</time>
        , {count(cells, "comparison")}
      </p>
      <UpgradeStory upgrade={upgrade} />
    </>
  );
}

function NothingYet() {
  return (
    <Empty title="No two versions are measured yet">
      <p>An upgrade is two versions of one library, measured in the same cases. A spec of some:</p>
      <pre>kexbench run bench-specs/history.yaml</pre>
      <p>Or compare a version with what is installed, without a spec:</p>
      <pre>kexbench compare openssl@system openssl@debian/bookworm</pre>
    </Empty>
  );
}
