// The status of an alert.
import { chipOf, type Status, statusText } from "./alert-model";

export function AlertStatus({ status }: { status: Status }) {
  return <span className={`chip ${chipOf(status)}`}>{statusText(status)}</span>;
}
