// Nodes of a pool that are not comparable, and what tells them apart.
import type { MixedPool } from "@/api/generated";

export function MixedPoolNotice({ mixed }: { mixed: MixedPool }) {
  return (
    <div className="note moved" role="note" aria-label={`Nodes of pool ${mixed.pool} differ`}>
      <p>
        <b>Nodes of pool {mixed.pool} are not comparable: their numbers are kept apart.</b>
      </p>
      <ul>
        {mixed.kinds.map(({ nodes, traits }) => (
          <li key={nodes.join()}>
            {nodes.join(", ")}: <b>{traits.join(", ")}</b>
          </li>
        ))}
      </ul>
      <p>Set these nodes up alike, or give each kind a pool of its own.</p>
    </div>
  );
}
