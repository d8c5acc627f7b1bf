// The actions on an alert. Each request says which version of the alert the reader had seen.
import { useQuery } from "@tanstack/react-query";
import { type AlertDetail, changeAlert } from "@/api/generated";
import { filtersOptions } from "@/api/generated/@tanstack/react-query.gen";
import { knownToken } from "@/api/token";
import { LOCAL } from "@/format";
import { Failed } from "@/ui/Notes";
import { type Action, actionMeaning, actionTitle, changeOf, needsNote } from "./alert-model";
import { TokenDialog } from "./TokenDialog";
import { useTokenRequest } from "./use-token-request";

export function AlertControls({ detail: { alert, actions } }: { detail: AlertDetail }) {
  const { alert_id, version } = alert;
  const allHostKinds = useQuery(filtersOptions()).data?.host_kinds ?? [];
  const hostKinds = alert.cells.length > 0 ? alert.cells : allHostKinds;
  const { shown, press, close, send, isBusy, refusal, trouble } = useTokenRequest(
    "change_alert",
    ({ action, form }: { action: Action; form?: FormData }) =>
      changeAlert({
        path: { alert_id },
        // If the alert has changed meanwhile, the API refuses and says what happened; then the alert is read again.
        body: changeOf(action, form ?? new FormData(), version),
        auth: knownToken(),
        throwOnError: true,
      }),
    undefined,
    true,
  );
  const action = shown?.request.action;
  return (
    <>
      <p className="actions">
        {actions.map((possible) => (
          <button key={possible} type="button" onClick={() => press({ action: possible }, true)}>
            {actionTitle(possible)}
          </button>
        ))}
      </p>
      {action && (
        <TokenDialog
          title={actionTitle(action)}
          needsToken={shown.needsToken}
          isLocal={hostKinds.every(({ pool }) => pool === LOCAL)}
          refusal={refusal}
          isBusy={isBusy}
          confirm={(form) => send({ action, form })}
          close={close}
        >
          <p>{actionMeaning(action)}</p>
          <ActionFields action={action} alert={alert} />
          {trouble !== null && <Failed error={trouble} />}
        </TokenDialog>
      )}
    </>
  );
}

function ActionFields({ action, alert }: { action: Action; alert: AlertDetail["alert"] }) {
  const needed = needsNote(action);
  return (
    <>
      {action === "assigned" && (
        <label className="field">
          <span>Assignee</span>
          <input
            type="text"
            name="assignee"
            defaultValue={alert.assignee}
            maxLength={200}
            autoComplete="off"
          />
        </label>
      )}
      {action === "due" && (
        <label className="field">
          <span>Due</span>
          <input type="date" name="due" defaultValue={alert.due ?? ""} />
        </label>
      )}
      {action === "ignored" && (
        <label className="field">
          <span>Until (UTC; empty means permanently)</span>
          <input type="date" name="until" min={tomorrow()} />
        </label>
      )}
      <label className="field">
        <span>{action === "noted" ? "Note" : needed ? "Reason" : "Note (optional)"}</span>
        <textarea name="note" rows={3} required={needed} maxLength={4000} />
      </label>
    </>
  );
}

/** In UTC, like all dates of alerts. */
function tomorrow(): string {
  return new Date(Date.now() + 24 * 3600 * 1000).toISOString().slice(0, 10);
}
