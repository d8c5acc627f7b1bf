// Upgrades: each version of a library and the nearest lower one measured beside it, the most recently measured first.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { Filters, UpgradeView } from "@/api/generated";
import { filtersOptions, upgradesOptions } from "@/api/generated/@tanstack/react-query.gen";
import { sourcesOf, titleOf } from "@/components/compared-ends";
import { libraryOf, libraryTitle } from "@/components/libraries";
import { RunsAside } from "@/components/RunsAside";
import { UpgradeStory } from "@/components/UpgradeStory";
import { count, dateTime } from "@/format";
import { paths } from "@/paths";
import type { UpgradesSearch } from "@/search";
import { Code } from "@/ui/Code";
import { Controls } from "@/ui/Controls";
import { Select } from "@/ui/Fields";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/upgrades");
const PAGE = 30;

export const firstAnswer = ({ library, before }: UpgradesSearch) =>
  upgradesOptions({ query: { library: libraryOf(library), before, limit: PAGE } });

export function UpgradesPage() {
  const { library, before } = route.useSearch();
  const filters = useQuery(filtersOptions());
  const upgrades = useQuery({
    ...firstAnswer({ library, before }),
    placeholderData: keepPreviousData,
  });
  useTitle("Upgrades");
  const next = upgrades.data?.next_before;
  return (
    <>
      <h1>Upgrades</h1>
      <RunsAside />
      {filters.data && <LibraryChoice filters={filters.data} />}
      {upgrades.data ? (
        <Upgrades upgrades={upgrades.data.upgrades} />
      ) : upgrades.isError ? (
        <Failed error={upgrades.error} retry={() => void upgrades.refetch()} />
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
    <Controls>
      <Select
        label="Library"
        value={library}
        choices={[{ value: "", label: "all" }, ...libraries.map((name) => ({ value: name, label: name }))]}
        choose={(name) => void navigate({ search: { library: name || undefined }, replace: true })}
      />
    </Controls>
  );
}

function Upgrades({ upgrades }: { upgrades: UpgradeView[] }) {
  if (upgrades.length === 0) return <NothingYet />;
  return [...new Set(upgrades.map((upgrade) => upgrade.library))].map((library) => (
    <section key={library}>
      <h2>{libraryTitle(library)}</h2>
      <ul className="runs">
        {upgrades
          .filter((upgrade) => upgrade.library === library)
          .map((upgrade) => (
            <li key={`${upgrade.before.subject} ${upgrade.after.subject}`} className="commit">
              <UpgradeItem upgrade={upgrade} />
            </li>
          ))}
      </ul>
    </section>
  ));
}

function UpgradeItem({ upgrade }: { upgrade: UpgradeView }) {
  const { library, before, after, measured_at, cells } = upgrade;
  return (
    <>
      <h3>
        <Link {...paths.upgrade(library, before.subject, after.subject)}>{titleOf(upgrade)}</Link>
      </h3>
      <p>
        {sourcesOf(upgrade)}, measured <time dateTime={measured_at}>{dateTime(measured_at)}</time>,{" "}
        {count(cells, "comparison")}
      </p>
      <UpgradeStory upgrade={upgrade} />
    </>
  );
}

function NothingYet() {
  return (
    <Empty title="No upgrades yet">
      <p>An upgrade compares two versions of one library in the same cases. Measure all tracked versions:</p>
      <Code className="command">kexbench run bench-specs/history.yaml</Code>
      <p>Or compare the installed version with another version, without a spec:</p>
      <Code className="command">kexbench compare openssl@system openssl@debian/bookworm</Code>
    </Empty>
  );
}
