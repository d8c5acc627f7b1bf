// Cancelling and resuming a run that was queued, where the API offers it.
import { type RefObject, useEffect } from "react";
import { cancelRun, type RunDetail, resumeRun } from "@/api/generated";
import { knownToken } from "@/api/token";
import { LOCAL } from "@/format";
import { Failed } from "@/ui/Notes";
import { type Control, ControlDialog, controlTitle } from "./ControlDialog";
import { useTokenRequest } from "./use-token-request";

interface Props {
  run: RunDetail;
  /** gets the focus when a button disappears after its request */
  heading: RefObject<HTMLElement | null>;
}

export function RunControls({ run, heading }: Props) {
  const { shown, press, close, send, isBusy, isDone, refusal, trouble } = useTokenRequest(
    "resume_run",
    (control: Control) => {
      const request = {
        path: { run_id: run.summary.run_id },
        auth: knownToken(),
        throwOnError: true,
      } as const;
      return control === "cancel" ? cancelRun(request) : resumeRun(request);
    },
  );
  useEffect(() => {
    if (isDone) heading.current?.focus({ preventScroll: true });
  }, [isDone, heading]);
  return (
    <>
      {run.controls.length > 0 && (
        <p className="actions">
          {run.controls.map((control) => (
            <button key={control} type="button" onClick={() => press(control, control === "cancel")}>
              {controlTitle(control)}
            </button>
          ))}
        </p>
      )}
      {trouble !== null && <Failed error={trouble} />}
      {shown && (
        <ControlDialog
          control={shown.request}
          needsToken={shown.needsToken}
          isLocal={run.summary.pools.includes(LOCAL)}
          refusal={refusal}
          isBusy={isBusy}
          confirm={() => send(shown.request)}
          close={close}
        />
      )}
    </>
  );
}
