// "Find the commit": the dialog that begins a bisection between two commits which differ, wherever that was seen.
import { useNavigate } from "@tanstack/react-router";
import { type BisectionWanted, beginBisection } from "@/api/generated";
import { knownToken } from "@/api/token";
import { count, LOCAL } from "@/format";
import { paths } from "@/paths";
import { Failed } from "@/ui/Notes";
import { type Question, shortHash } from "./bisection-model";
import { TokenDialog } from "./TokenDialog";
import { useAsking } from "./use-asking";

const TITLE = "Find the commit";

interface Props {
  question: Question;
  /** whose cases they are */
  specText: string;
  pools: string[];
}

export function FindCommit({ question, specText, pools }: Props) {
  const navigate = useNavigate();
  const { shown, press, close, send, isBusy, refusal, trouble } = useAsking(
    async (body: BisectionWanted) =>
      (await beginBisection({ body, auth: knownToken(), throwOnError: true })).data,
    ({ bisection_id }) => void navigate(paths.bisection(bisection_id)),
  );
  const wanted = { ...question, spec_text: specText, pool: pools[0] ?? null };
  return (
    <>
      <p className="actions">
        <button type="button" onClick={() => press(wanted, true)}>
          {TITLE} between {nameOf(question.good)} and {nameOf(question.bad)}
        </button>
      </p>
      {trouble !== null && <Failed error={trouble} />}
      {shown && (
        <TokenDialog
          title={TITLE}
          asksToken={shown.asksToken}
          isLocal={pools.includes(LOCAL)}
          refusal={refusal}
          isBusy={isBusy}
          confirm={(form) => send(asFilledIn(wanted, form))}
          close={close}
        >
          <p>
            Some of the commits between the two are built, and each is measured beside both in{" "}
            {count(question.cases.length, "case")} that {question.cases.length === 1 ? "differs" : "differ"}.
            Building takes minutes a commit; everything has its turn in the queue.
          </p>
          <p className="said">{question.repository}</p>
          <End name="good" label="Good, the earlier commit" value={question.good} />
          <End name="bad" label="Bad, the later one" value={question.bad} />
        </TokenDialog>
      )}
    </>
  );
}

function End({ name, label, value }: { name: "good" | "bad"; label: string; value: string }) {
  return (
    <label className="field">
      <span>{label}</span>
      <input type="text" name={name} defaultValue={value} required maxLength={200} autoComplete="off" />
    </label>
  );
}

function asFilledIn(wanted: BisectionWanted, form: FormData): BisectionWanted {
  const { good, bad } = wanted;
  return { ...wanted, good: textOf(form, "good", good), bad: textOf(form, "bad", bad) };
}

function textOf(form: FormData, name: string, usual: string): string {
  const typed = form.get(name);
  return typeof typed === "string" && typed.trim() ? typed.trim() : usual;
}

/** A branch or tag as it is, a hash shortened. */
function nameOf(name: string): string {
  return /^[0-9a-f]{40}$/.test(name) ? shortHash(name) : name;
}
