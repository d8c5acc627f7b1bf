// Nodes of a pool that are not comparable, and how they differ.
import type { MixedPool } from "@/api/generated";
import { NodeLinks } from "./NodeLinks";

export function MixedPoolNotice({ mixed }: { mixed: MixedPool }) {
  return (
    <div className="note moved" role="note" aria-label={`Nodes of pool ${mixed.pool} differ`}>
      <p>
        <b>Nodes of pool {mixed.pool} are not comparable. Their results are kept separate.</b>
      </p>
      <ul>
        {mixed.kinds.map(({ nodes, traits }) => (
          <li key={nodes.join()}>
            <NodeLinks pool={mixed.pool} nodes={nodes} />: <b>{traits.join(", ")}</b>
          </li>
        ))}
      </ul>
      <p>Configure these nodes alike, or give each host kind its own pool.</p>
    </div>
  );
}
