// What may be done to an alert: each asks for what it needs and says what the reader had seen.
import { useQuery } from "@tanstack/react-query";
import { type AlertDetail, changeAlert } from "@/api/generated";
import { filtersOptions } from "@/api/generated/@tanstack/react-query.gen";
import { knownToken } from "@/api/token";
import { LOCAL } from "@/format";
import { Failed } from "@/ui/Notes";
import { type Action, actionMeaning, actionTitle, changeOf, needsNote } from "./alert-model";
import { TokenDialog } from "./TokenDialog";
import { useAsking } from "./use-asking";

export function AlertControls({ found: { alert, actions } }: { found: AlertDetail }) {
  const { alert_id, version } = alert;
  const known = useQuery(filtersOptions()).data?.host_kinds ?? [];
  const measured = alert.cells.length > 0 ? alert.cells : known;
  const { shown, press, close, send, isBusy, refusal, trouble } = useAsking(
    ({ action, form }: { action: Action; form?: FormData }) =>
      changeAlert({
        path: { alert_id },
        // What happened meanwhile is told and read again: what is asked then is asked by who has seen it.
        body: changeOf(action, form ?? new FormData(), version),
        auth: knownToken(),
        throwOnError: true,
      }),
    undefined,
    true,
  );
  const action = shown?.asked.action;
  return (
    <>
      <p className="actions">
        {actions.map((one) => (
          <button key={one} type="button" onClick={() => press({ action: one }, true)}>
            {actionTitle(one)}
          </button>
        ))}
      </p>
      {action && (
        <TokenDialog
          title={actionTitle(action)}
          asksToken={shown.asksToken}
          isLocal={measured.every(({ pool }) => pool === LOCAL)}
          refusal={refusal}
          isBusy={isBusy}
          confirm={(form) => send({ action, form })}
          close={close}
        >
          <p>{actionMeaning(action)}</p>
          <Asked action={action} alert={alert} />
          {trouble !== null && <Failed error={trouble} />}
        </TokenDialog>
      )}
    </>
  );
}

function Asked({ action, alert }: { action: Action; alert: AlertDetail["alert"] }) {
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
          <span>Until, or empty for good (UTC)</span>
          <input type="date" name="until" min={tomorrow()} />
        </label>
      )}
      <label className="field">
        <span>{action === "noted" ? "Note" : needed ? "Reason" : "Note, if there is something to say"}</span>
        <textarea name="note" rows={3} required={needed} maxLength={4000} />
      </label>
    </>
  );
}

/** In UTC, as dates of alerts are. */
function tomorrow(): string {
  return new Date(Date.now() + 24 * 3600 * 1000).toISOString().slice(0, 10);
}
