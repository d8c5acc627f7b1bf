// Where an alert stands.
import { chipOf, type Status } from "./alert-model";

export function AlertStatus({ status }: { status: Status }) {
  return <span className={`chip ${chipOf(status)}`}>{status}</span>;
}
