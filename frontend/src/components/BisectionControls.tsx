// Cancels or resumes a bisection, if the API offers it.
import { type BisectionDetail, cancelBisection, resumeBisection } from "@/api/generated";
import { knownToken } from "@/api/token";
import { LOCAL } from "@/format";
import { Failed } from "@/ui/Notes";
import { TokenDialog } from "./TokenDialog";
import { useTokenRequest } from "./use-token-request";

type Control = BisectionDetail["controls"][number];

const TITLES: Record<Control, string> = { cancel: "Cancel bisection", resume: "Resume bisection" };

export function BisectionControls({ bisection: { summary, controls } }: { bisection: BisectionDetail }) {
  const { shown, press, close, send, isBusy, refusal, trouble } = useTokenRequest(
    "resume_bisection",
    (control: Control) => {
      const request = {
        path: { bisection_id: summary.bisection_id },
        auth: knownToken(),
        throwOnError: true,
      } as const;
      return control === "cancel" ? cancelBisection(request) : resumeBisection(request);
    },
  );
  return (
    <>
      {controls.length > 0 && (
        <p className="actions">
          {controls.map((control) => (
            <button key={control} type="button" onClick={() => press(control, control === "cancel")}>
              {TITLES[control]}
            </button>
          ))}
        </p>
      )}
      {trouble !== null && <Failed error={trouble} />}
      {shown && (
        <TokenDialog
          title={TITLES[shown.request]}
          needsToken={shown.needsToken}
          isLocal={summary.pool === LOCAL}
          refusal={refusal}
          isBusy={isBusy}
          confirm={() => send(shown.request)}
          close={close}
        >
          {shown.request === "cancel" && <p>Results so far are kept. The bisection can be resumed.</p>}
        </TokenDialog>
      )}
    </>
  );
}
