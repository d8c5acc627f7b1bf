// The choices of a comparison: the two ends, and which cells are shown.
import type { ComparedEnd, Comparison } from "@/api/generated";
import { dateTime } from "@/format";
import { type CompareSearch, compareChoice, type EndChoice, VERDICT_FILTERS } from "@/search";
import { subjectChoices } from "@/subjects";
import { Select, TextFilter } from "@/ui/Fields";
import { endChoices, FILTER_LABELS } from "./compare-model";
import { HostSelect } from "./HostSelect";
import { libraryTitle } from "./libraries";

interface Props {
  search: CompareSearch;
  comparison: Comparison;
  change: (next: CompareSearch) => void;
}

export function CompareControls({ search, comparison, change }: Props) {
  const [base, other] = endChoices(search, comparison);
  return (
    <form aria-label="Choices" onSubmit={(event) => event.preventDefault()}>
      <div className="ends">
        <EndControls
          title="Baseline"
          end={comparison.base}
          comparison={comparison}
          choose={(next) => change(compareChoice({ ...base, ...next }, other))}
        />
        <EndControls
          title="Compared with it"
          end={comparison.other}
          comparison={comparison}
          choose={(next) => change(compareChoice(base, { ...other, ...next }))}
        />
      </div>
      <div className="controls">
        <TextFilter
          label="Cases"
          value={search.q ?? ""}
          placeholder="e.g. ecdhe 3072"
          enter={(q) => change({ q: q || undefined })}
        />
        <Select
          label="Verdicts"
          value={search.verdict ?? ""}
          choices={[
            { value: "", label: "all" },
            ...VERDICT_FILTERS.map((value) => ({ value, label: FILTER_LABELS[value] })),
          ]}
          choose={(verdict) => change({ verdict: verdict || undefined })}
        />
        <button
          type="button"
          disabled={!comparison.base || !comparison.other}
          onClick={() => change(compareChoice(other, base))}
        >
          Swap the two
        </button>
      </div>
    </form>
  );
}

interface EndProps {
  title: string;
  end: ComparedEnd | null;
  comparison: Comparison;
  choose: (next: EndChoice) => void;
}

function EndControls({ title, end, comparison, choose }: EndProps) {
  const hostKinds = end?.host_kinds ?? [];
  return (
    <fieldset className="end">
      <legend>{title}</legend>
      <Select
        label="Version"
        value={end?.subject.subject ?? ""}
        choices={subjectChoices(comparison.subjects).map((choice) => ({
          ...choice,
          label: `${libraryTitle(choice.group ?? "")} ${choice.label}`,
        }))}
        choose={(subject) => choose({ subject, pool: undefined, cpu: undefined, run: undefined })}
      />
      <HostSelect
        hostKinds={hostKinds}
        current={hostKinds.find(({ pool, cpu_model }) => pool === end?.pool && cpu_model === end?.cpu_model)}
        choose={choose}
        all
      />
      <Select
        label="Run"
        value={end?.run_id ?? ""}
        choices={[
          { value: "", label: "best for comparing" },
          ...(end?.runs ?? []).map(({ run_id, measured_at }) => ({
            value: run_id,
            label: `${dateTime(measured_at)}, ${run_id}`,
          })),
        ]}
        choose={(run) => choose({ run: run || undefined })}
      />
    </fieldset>
  );
}
