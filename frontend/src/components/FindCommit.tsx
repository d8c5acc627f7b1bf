// The button and dialog that start a bisection between two commits with different costs.
import { useNavigate } from "@tanstack/react-router";
import { type BisectionWanted, beginBisection } from "@/api/generated";
import { knownToken } from "@/api/token";
import { count, LOCAL } from "@/format";
import { paths } from "@/paths";
import { Failed } from "@/ui/Notes";
import { type Question, shortHash } from "./bisection-model";
import { TokenDialog } from "./TokenDialog";
import { useTokenRequest } from "./use-token-request";

const TITLE = "Find the commit";

interface Props {
  question: Question;
  /** the spec that the cases come from */
  specText: string;
  pools: string[];
}

export function FindCommit({ question, specText, pools }: Props) {
  const navigate = useNavigate();
  const { shown, press, close, send, isBusy, refusal, trouble } = useTokenRequest(
    "begin_bisection",
    async (body: BisectionWanted) =>
      (await beginBisection({ body, auth: knownToken(), throwOnError: true })).data,
    ({ bisection_id }) => void navigate(paths.bisection(bisection_id)),
  );
  const request = { ...question, spec_text: specText, pool: pools[0] ?? null };
  return (
    <>
      <p className="actions">
        <button type="button" onClick={() => press(request, true)}>
          {TITLE} between {nameOf(question.good)} and {nameOf(question.bad)}
        </button>
      </p>
      {trouble !== null && <Failed error={trouble} />}
      {shown && (
        <TokenDialog
          title={TITLE}
          needsToken={shown.needsToken}
          isLocal={pools.includes(LOCAL)}
          refusal={refusal}
          isBusy={isBusy}
          confirm={(form) => send(asFilledIn(request, form))}
          close={close}
        >
          <p>
            kexbench builds some of the commits between these two. It measures each of them together with both
            ends, in the {count(question.cases.length, "case")} with a different cost. Building takes minutes
            per commit. The runs wait in the queue.
          </p>
          <p className="said">{question.repository}</p>
          <End name="good" label="Good commit (earlier)" value={question.good} />
          <End name="bad" label="Bad commit (later)" value={question.bad} />
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

function asFilledIn(request: BisectionWanted, form: FormData): BisectionWanted {
  const { good, bad } = request;
  return { ...request, good: textOf(form, "good", good), bad: textOf(form, "bad", bad) };
}

function textOf(form: FormData, name: string, fallback: string): string {
  const typed = form.get(name);
  return typeof typed === "string" && typed.trim() ? typed.trim() : fallback;
}

/** A branch or tag unchanged, a hash shortened. */
function nameOf(name: string): string {
  return /^[0-9a-f]{40}$/.test(name) ? shortHash(name) : name;
}
