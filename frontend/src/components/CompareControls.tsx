// The choices of a comparison: the two ends, and which cells are shown.
import { useQuery } from "@tanstack/react-query";
import type { ComparedEnd, Comparison, Subject } from "@/api/generated";
import { subjectChoices } from "@/components/libraries";
import { dateTime } from "@/format";
import { publishedPairsOptions, site } from "@/published";
import { type CompareSearch, compareChoice, type EndChoice } from "@/search";
import { Select } from "@/ui/Fields";
import { ChangeFilters } from "./Changes";
import { chosenEnds, endChoices, subjectsAt } from "./compared-ends";
import { HostSelect } from "./HostSelect";

interface Props {
  search: CompareSearch;
  comparison: Comparison;
  change: (next: CompareSearch) => void;
}

export function CompareControls({ search, comparison, change }: Props) {
  const [base, other] = endChoices(search, comparison);
  const pairs = useQuery({ ...publishedPairsOptions, enabled: site !== undefined }).data;
  return (
    <form aria-label="Choices" onSubmit={(event) => event.preventDefault()}>
      <div className="ends">
        <EndControls
          title="Baseline"
          end={comparison.base}
          subjects={subjectsAt("base", comparison.subjects, pairs)}
          choose={(next) => change(compareChoice(...chosenEnds("base", next, [base, other], pairs)))}
        />
        <EndControls
          title="Compared with it"
          end={comparison.other}
          subjects={subjectsAt("other", comparison.subjects, pairs)}
          choose={(next) => change(compareChoice(...chosenEnds("other", next, [base, other], pairs)))}
        />
      </div>
      <div className="controls">
        <ChangeFilters view={search} change={change} />
        {!site && (
          <button
            type="button"
            disabled={!comparison.base || !comparison.other}
            onClick={() => change(compareChoice(other, base))}
          >
            Swap the two
          </button>
        )}
      </div>
    </form>
  );
}

interface EndProps {
  title: string;
  end: ComparedEnd | null;
  subjects: Subject[];
  choose: (next: EndChoice) => void;
}

function EndControls({ title, end, subjects, choose }: EndProps) {
  const hostKinds = end?.host_kinds ?? [];
  return (
    <fieldset className="end">
      <legend>{title}</legend>
      <Select
        label="Version"
        value={end?.subject.name ?? ""}
        choices={subjectChoices(subjects)}
        choose={(subject) =>
          choose({ subject, pool: undefined, cpu: undefined, run: undefined, case: undefined })
        }
      />
      <HostSelect
        hostKinds={hostKinds}
        current={hostKinds.find(({ pool, cpu_model }) => pool === end?.pool && cpu_model === end?.cpu_model)}
        choose={choose}
        all
      />
      {!site && (
        <Select
          label="Run"
          value={end?.run_id ?? ""}
          choices={[
            { value: "", label: "best for comparing" },
            ...(end?.runs ?? []).map(({ run_id, measured_at }) => ({
              value: run_id,
              label: `${dateTime(measured_at)}, ${run_id.split("-").at(-1)}`, // its start is the date again
            })),
          ]}
          choose={(run) => choose({ run: run || undefined })}
        />
      )}
      {!site && (
        <Select
          label="Case"
          value={end?.case_id ?? ""}
          choices={[
            { value: "", label: "every case" },
            ...(end?.cases ?? []).map(({ id, title }) => ({ value: id, label: title })),
          ]}
          choose={(caseId) => choose({ case: caseId || undefined })}
        />
      )}
    </fieldset>
  );
}
