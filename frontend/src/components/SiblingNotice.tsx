// What ran beside the measuring, on the other threads of its core.
import type { SiblingView } from "@/api/generated";
import { share } from "@/format";

export function SiblingNotice({ sibling }: { sibling: SiblingView | null }) {
  if (!sibling?.disturbs) return null;
  return (
    <div className="note moved" role="note" aria-label="The core was shared">
      <p>
        <b>The other thread of the measuring core was busy for {share(sibling.busy_share)} of the time.</b>
      </p>
      <p>
        What runs there slows handshakes down. Give kexbench whole cores, two of them, or turn SMT off while
        it measures.
      </p>
    </div>
  );
}
