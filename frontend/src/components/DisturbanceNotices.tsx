// What ran beside the measuring, where it was enough to be in the numbers.
import type { RunDetail } from "@/api/generated";
import { share } from "@/format";

export function DisturbanceNotices({ steal, sibling }: Pick<RunDetail, "steal" | "sibling">) {
  return (
    <>
      {steal?.disturbs && (
        <div className="note moved" role="note" aria-label="The hypervisor took CPU time">
          <p>
            <b>The hypervisor gave {share(steal.share)} of the CPU time to others.</b>
          </p>
          <p>It may be in the numbers. Measure again at another hour, or on a host of your own.</p>
        </div>
      )}
      {sibling?.disturbs && (
        <div className="note moved" role="note" aria-label="The core was shared">
          <p>
            <b>
              The other thread of the measuring core was busy for {share(sibling.busy_share)} of the time.
            </b>
          </p>
          <p>
            What runs there slows handshakes down. Give kexbench whole cores, two of them, or turn SMT off
            while it measures.
          </p>
        </div>
      )}
    </>
  );
}
