// Notifications of alerts, and whether they were delivered.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { NotificationView } from "@/api/generated";
import { notificationsOptions } from "@/api/generated/@tanstack/react-query.gen";
import { dateTime } from "@/format";
import { paths } from "@/paths";
import { Frame } from "@/ui/Frame";
import { deliveryChip, deliveryText } from "./alert-model";

const SHOWN = 10;
const MOST = 200;

/** The notifications of one alert, or the newest of all alerts. */
export function Notifications({ alertId }: { alertId?: string }) {
  const { data } = useQuery(notificationsOptions({ query: { limit: alertId ? MOST : SHOWN } }));
  if (!data) return null;
  const notifications = data.notifications.filter(
    (notification) => !alertId || notification.alert_id === alertId,
  );
  if (alertId && notifications.length === 0) return null;
  return (
    <section>
      <h2>Notifications</h2>
      {!alertId && <Channels names={data.channels} />}
      {notifications.length > 0 && (
        <Frame label="Notifications">
          <table className="numbers">
            <thead>
              <tr>
                <th scope="col">Subject</th>
                <th scope="col">Channel</th>
                <th scope="col">State</th>
                <th scope="col">Time</th>
              </tr>
            </thead>
            <tbody>
              {notifications.map((notification) => (
                <Row key={notification.notification_id} notification={notification} isLinked={!alertId} />
              ))}
            </tbody>
          </table>
        </Frame>
      )}
    </section>
  );
}

function Channels({ names }: { names: string[] }) {
  if (names.length > 0) return <p>Channels: {names.join(", ")}.</p>;
  return (
    <p>
      No channel is configured, so alerts appear only on this page. To add channels, list them in{" "}
      <code>channels.yaml</code> in the home folder of kexbench, or in the file that{" "}
      <code>KEXBENCH_CHANNELS</code> names. Then test them with <code>kexbench notify test</code>.
    </p>
  );
}

function Row({ notification, isLinked }: { notification: NotificationView; isLinked: boolean }) {
  const { alert_id, title, channel, state, detail, at, created_at } = notification;
  const time = at ?? created_at;
  return (
    <tr>
      <th scope="row">{isLinked && alert_id ? <Link {...paths.alert(alert_id)}>{title}</Link> : title}</th>
      <td className="whole">{channel}</td>
      <td>
        <span className={`chip ${deliveryChip(state)}`}>{deliveryText(state)}</span>
        {detail && <small className="below">{detail}</small>}
      </td>
      <td className="whole">
        <time dateTime={time}>{dateTime(time)}</time>
      </td>
    </tr>
  );
}
