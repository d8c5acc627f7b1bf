// Before a run is cancelled or resumed: what that means, and who asks for it.
import type { RunDetail } from "@/api/generated";
import { TokenDialog } from "./TokenDialog";

export type Control = RunDetail["controls"][number];

export function controlTitle(control: Control): string {
  return control === "cancel" ? "Cancel run" : "Resume run";
}

interface Props {
  control: Control;
  asksToken: boolean;
  /** whether it is measured by the service's own machine */
  isLocal: boolean;
  /** why the token that was shown last would not do */
  refusal: unknown;
  isBusy: boolean;
  confirm: () => void;
  close: () => void;
}

export function ControlDialog({ control, ...asking }: Props) {
  return (
    <TokenDialog title={controlTitle(control)} {...asking}>
      {control === "cancel" && <p>What is measured by then is kept, and the run can be resumed.</p>}
    </TokenDialog>
  );
}
