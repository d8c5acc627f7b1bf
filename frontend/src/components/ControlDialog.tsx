// The dialog before a run is cancelled or resumed.
import type { RunDetail } from "@/api/generated";
import { TokenDialog } from "./TokenDialog";

export type Control = RunDetail["controls"][number];

export function controlTitle(control: Control): string {
  return control === "cancel" ? "Cancel run" : "Resume run";
}

interface Props {
  control: Control;
  needsToken: boolean;
  /** whether the service measures on its own machine */
  isLocal: boolean;
  /** why the last token was refused */
  refusal: unknown;
  isBusy: boolean;
  confirm: () => void;
  close: () => void;
}

export function ControlDialog({ control, ...dialog }: Props) {
  return (
    <TokenDialog title={controlTitle(control)} {...dialog}>
      {control === "cancel" && <p>Measurements so far are kept. The run can be resumed.</p>}
    </TokenDialog>
  );
}
