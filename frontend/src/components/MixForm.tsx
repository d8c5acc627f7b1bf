// The parts of a mix: rows of a case and its share of the connections.
import type { CaseView } from "@/api/generated";
import type { Part } from "@/components/capacity-model";
import { Select } from "@/ui/Fields";

interface Props {
  parts: Part[];
  cases: CaseView[];
  change: (parts: Part[]) => void;
}

export function MixForm({ parts, cases, change }: Props) {
  const choices = cases.map(({ id, title }) => ({ value: id, label: title }));
  const unused = cases.find(({ id }) => !parts.some((part) => part.caseId === id));
  const replace = (place: number, next: Partial<Part>) =>
    change(parts.map((part, other) => (other === place ? { ...part, ...next } : part)));
  return (
    <fieldset className="mix">
      <legend>Connections</legend>
      {parts.map((part, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row keeps no state, and the focus stays while its case changes
        <div key={place} className="controls">
          <label className="field">
            <span>Share, %</span>
            <input
              type="number"
              value={part.share}
              min={0}
              max={100}
              step="any"
              onChange={(event) => replace(place, { share: event.target.value })}
            />
          </label>
          <Select
            label="Case"
            value={part.caseId}
            choices={choices.map((choice) => ({
              ...choice,
              disabled: choice.value !== part.caseId && parts.some(({ caseId }) => caseId === choice.value),
            }))}
            choose={(caseId) => replace(place, { caseId })}
          />
          {parts.length > 1 && (
            <button
              type="button"
              aria-label={`Remove part ${place + 1}`}
              onClick={() => change(parts.filter((_, other) => other !== place))}
            >
              Remove
            </button>
          )}
        </div>
      ))}
      {unused && (
        <button type="button" onClick={() => change([...parts, { share: "0", caseId: unused.id }])}>
          Add a case
        </button>
      )}
    </fieldset>
  );
}
