// The button that sets a node aside, or returns it.
import { returnNode, setAside } from "@/api/generated";
import { knownToken } from "@/api/token";
import { Failed } from "@/ui/Notes";
import type { PooledNode } from "./fleet-model";
import { TokenDialog } from "./TokenDialog";
import { useTokenRequest } from "./use-token-request";

export function SetAsideControl({ node: { pool, node, set_aside, sentinel } }: { node: PooledNode }) {
  const title = set_aside ? "Return node" : "Set aside";
  const { shown, press, close, send, isBusy, refusal, trouble } = useTokenRequest(
    set_aside ? "return_node" : "set_aside",
    async (form: FormData) => {
      const caller = { auth: knownToken(), throwOnError: true } as const;
      if (set_aside) await returnNode({ path: { pool, node }, ...caller });
      else await setAside({ body: wanted(pool, node, form), ...caller });
    },
    undefined,
    true,
  );
  // A machine by itself is the only node of its pool.
  if (pool === node && !set_aside) return null;
  return (
    <>
      <p className="actions">
        <button type="button" aria-label={`${title}: ${node}`} onClick={() => press(new FormData(), true)}>
          {title}
        </button>
      </p>
      {shown && (
        <TokenDialog
          title={title}
          needsToken={shown.needsToken}
          isLocal={false}
          refusal={refusal}
          isBusy={isBusy}
          confirm={send}
          close={close}
        >
          {set_aside ? (
            <p>All results of {node} count again, and jobs are sent there.</p>
          ) : (
            <Fields node={node} runs={sentinel.length} />
          )}
          {trouble !== null && <Failed error={trouble} />}
        </TokenDialog>
      )}
    </>
  );
}

function Fields({ node, runs }: { node: string; runs: number }) {
  return (
    <>
      <p>
        Results of {node} no longer count in comparisons, histories and alerts, and no job is sent there.
        {runs > 0 && " Nothing is deleted: when the node is returned, they count again."}
      </p>
      <label className="field">
        <span>Reason</span>
        <textarea name="reason" rows={3} required maxLength={500} />
      </label>
      <label className="field">
        <span>Since (UTC; empty means now)</span>
        <input type="datetime-local" name="since" />
      </label>
    </>
  );
}

function wanted(pool: string, node: string, form: FormData) {
  const since = form.get("since");
  return {
    pool,
    node,
    reason: String(form.get("reason") ?? ""),
    since: typeof since === "string" && since !== "" ? new Date(`${since}Z`).toISOString() : null,
  };
}
