// Notices about other work on the machine, if there was enough of it to affect the results.
import type { RunDetail } from "@/api/generated";
import { share } from "@/format";

export function DisturbanceNotices({ steal, sibling }: Pick<RunDetail, "steal" | "sibling">) {
  return (
    <>
      {steal?.disturbs && (
        <div className="note moved" role="note" aria-label="CPU steal">
          <p>
            <b>The hypervisor gave {share(steal.share)} of the CPU time to other virtual machines.</b>
          </p>
          <p>This may affect the results. Measure again at another time, or use a dedicated host.</p>
        </div>
      )}
      {sibling?.disturbs && (
        <div className="note moved" role="note" aria-label="Shared core">
          <p>
            <b>The SMT sibling of the measuring core was busy for {share(sibling.share)} of the time.</b>
          </p>
          <p>
            Work on the sibling slows handshakes down. Give kexbench two whole cores, or turn SMT off while it
            measures.
          </p>
        </div>
      )}
    </>
  );
}
