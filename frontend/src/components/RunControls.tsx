// Cancelling and resuming a run that was queued, where the API offers it.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type RefObject, useEffect, useState } from "react";
import { cancelRun, type RunDetail, resumeRun } from "@/api/generated";
import { isRefusedCaller } from "@/api/problem";
import { forgetToken, knownToken } from "@/api/token";
import { LOCAL } from "@/format";
import { Failed } from "@/ui/Notes";
import { type Control, ControlDialog, controlTitle } from "./ControlDialog";

interface Props {
  run: RunDetail;
  /** gets the focus when a button is gone with what it asked for */
  heading: RefObject<HTMLElement | null>;
}

export function RunControls({ run, heading }: Props) {
  const queries = useQueryClient();
  const [shown, show] = useState<{ control: Control; asksToken: boolean }>();
  const asked = useMutation({
    mutationFn: (control: Control) => {
      const request = {
        path: { run_id: run.summary.run_id },
        auth: knownToken(),
        throwOnError: true,
      } as const;
      return control === "cancel" ? cancelRun(request) : resumeRun(request);
    },
    onSuccess: async () => {
      await queries.invalidateQueries();
      show(undefined);
    },
    onError: async (error, control) => {
      if (isRefusedCaller(error)) {
        forgetToken();
        show({ control, asksToken: true });
      } else {
        show(undefined);
        await queries.invalidateQueries();
      }
    },
  });
  useEffect(() => {
    if (asked.isSuccess) heading.current?.focus({ preventScroll: true });
  }, [asked.isSuccess, heading]);

  const isRefused = isRefusedCaller(asked.error);
  const press = (control: Control) => {
    const asksToken = knownToken() === undefined;
    asked.reset();
    if (asksToken || control === "cancel") show({ control, asksToken });
    else asked.mutate(control);
  };
  return (
    <>
      {run.controls.length > 0 && (
        <p className="actions">
          {run.controls.map((control) => (
            <button key={control} type="button" onClick={() => press(control)}>
              {controlTitle(control)}
            </button>
          ))}
        </p>
      )}
      {asked.isError && !isRefused && <Failed error={asked.error} />}
      {shown && (
        <ControlDialog
          {...shown}
          isLocal={run.summary.pools.includes(LOCAL)}
          refusal={isRefused ? asked.error : null}
          isBusy={asked.isPending}
          confirm={() => asked.mutate(shown.control)}
          close={() => show(undefined)}
        />
      )}
    </>
  );
}
