// The choices of the trends: which series, on which axes.

import type { Filters, Trends } from "@/api/generated";
import { unitOf } from "@/format";
import { DEFAULT_METRIC, SPLITS, type Split, TREND_SIDES, type TrendsSearch } from "@/search";
import { versionText } from "@/subjects";
import { Controls } from "@/ui/Controls";
import { Checks, Select, Toggle } from "@/ui/Fields";
import { MetricSelect } from "./CellChoice";
import { useHostNames } from "./HostName";
import { hostLabel } from "./HostSelect";

interface Props {
  search: TrendsSearch;
  filters: Filters;
  trends: Trends;
  change: (next: Partial<TrendsSearch>) => void;
}

const SPLIT_LABELS: Record<Split, string> = {
  cpu: "each machine",
  case: "each case",
  library: "each library",
  side: "each side",
};

export function TrendsControls({ search, filters, trends, change }: Props) {
  const { metric = DEFAULT_METRIC, show, x } = search;
  const versions = [...new Set(trends.subjects.map(versionText))];
  const hostName = useHostNames();
  return (
    <Controls label="Choices">
      <Cases {...{ search, trends, change }} />
      <Checks
        label="Pools and CPUs"
        all={filters.host_kinds.map(hostLabel)}
        nameOf={(label) => {
          const kind = filters.host_kinds.find((candidate) => hostLabel(candidate) === label);
          return kind ? hostName(kind) : label;
        }}
        chosen={search.host ?? []}
        choose={(host) => change({ host })}
      />
      <Checks
        label="Libraries"
        all={filters.libraries}
        chosen={search.library ?? []}
        choose={(library) => change({ library })}
      />
      <MetricSelect metrics={filters.metrics} metric={metric} choose={(next) => change({ metric: next })} />
      {metric === DEFAULT_METRIC && <Sides {...{ search, change }} />}
      <Select
        label="Horizontal axis"
        value={x ?? ""}
        choices={[
          { value: "", label: "Versions" },
          { value: "released", label: "Release dates" },
          { value: "measured", label: "Dates of measurement" },
        ]}
        choose={(next) => change({ x: next || undefined })}
      />
      <Select
        label="Values"
        value={show ?? ""}
        choices={[
          { value: "", label: unitOf(metric) === "ns" ? "Rate" : "Absolute" },
          ...(unitOf(metric) === "ns" ? [{ value: "cost" as const, label: "Time" }] : []),
          { value: "relative", label: "Relative to a version" },
        ]}
        choose={(next) => change({ show: next || undefined })}
      />
      {show === "relative" && (
        <Select
          label="Baseline"
          value={search.base ?? ""}
          choices={[
            { value: "", label: "first version of each" },
            ...versions.map((version) => ({ value: version, label: version })),
          ]}
          choose={(base) => change({ base: base || undefined })}
        />
      )}
      <Select
        label="A chart for"
        value={search.split ?? ""}
        choices={[
          { value: "", label: "all together" },
          ...SPLITS.map((split) => ({ value: split, label: SPLIT_LABELS[split] })),
        ]}
        choose={(split) => change({ split: split || undefined })}
      />
      <Toggle
        label="Scale"
        value={search.scale ?? "linear"}
        choices={[
          { value: "linear", label: "Linear" },
          { value: "log", label: "Log" },
        ]}
        choose={(scale) => change({ scale: scale === "log" ? scale : undefined })}
      />
    </Controls>
  );
}

type PartProps = Pick<Props, "search" | "change">;

/** None chosen means the first one; all are chosen by their ids, so that the URL means the same later. */
function Cases({ search, trends, change }: PartProps & Pick<Props, "trends">) {
  const chosen = search.case ?? trends.choices.slice(0, 1).map(({ id }) => id);
  const others = trends.choices.filter(({ id }) => !chosen.includes(id));
  const choose = (ids: string[]) => change({ case: ids });
  return (
    <fieldset className="field chosen">
      <legend>Cases</legend>
      <div>
        {chosen.length <= 6 ? (
          chosen.map((id) => {
            const title = trends.choices.find((choice) => choice.id === id)?.title ?? id;
            return (
              <button
                key={id}
                type="button"
                aria-label={`Remove ${title}`}
                disabled={chosen.length === 1}
                onClick={() => choose(chosen.filter((other) => other !== id))}
              >
                {title} <span aria-hidden>×</span>
              </button>
            );
          })
        ) : (
          <button type="button" onClick={() => choose([])}>
            {chosen.length} cases: show one
          </button>
        )}
        <select
          aria-label="Add a case"
          value=""
          disabled={others.length === 0}
          onChange={(event) => choose([...chosen, event.target.value])}
        >
          <option value="">Add a case…</option>
          {others.map(({ id, title }) => (
            <option key={id} value={id}>
              {title}
            </option>
          ))}
        </select>
        {others.length > 0 && (
          <button type="button" onClick={() => choose(trends.choices.map(({ id }) => id))}>
            All {trends.choices.length} cases
          </button>
        )}
      </div>
    </fieldset>
  );
}

function Sides({ search, change }: PartProps) {
  const chosen = search.side ?? ["both"];
  return (
    <fieldset className="field checks">
      <legend>Sides</legend>
      <div>
        {TREND_SIDES.map((side) => (
          <label key={side}>
            <input
              type="checkbox"
              checked={chosen.includes(side)}
              onChange={() => {
                const next = TREND_SIDES.filter((other) =>
                  other === side ? !chosen.includes(other) : chosen.includes(other),
                );
                const isDefault = next.length === 0 || (next.length === 1 && next[0] === "both");
                change({ side: isDefault ? undefined : next });
              }}
            />
            {side === "both" ? "both together" : side}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
