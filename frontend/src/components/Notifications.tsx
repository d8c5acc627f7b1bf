// What people were told of alerts, and whether it got there.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { NotificationView } from "@/api/generated";
import { notificationsOptions } from "@/api/generated/@tanstack/react-query.gen";
import { dateTime } from "@/format";
import { paths } from "@/paths";
import { Frame } from "@/ui/Frame";
import { toldChip } from "./alert-model";

const SHOWN = 10;
const MOST = 200;

/** Of one alert, or the newest of all. */
export function Notifications({ alertId }: { alertId?: string }) {
  const { data } = useQuery(notificationsOptions({ query: { limit: alertId ? MOST : SHOWN } }));
  if (!data) return null;
  const told = data.notifications.filter((one) => !alertId || one.alert_id === alertId);
  if (alertId && told.length === 0) return null;
  return (
    <section>
      <h2>What people were told</h2>
      {!alertId && <Channels names={data.channels} />}
      {told.length > 0 && (
        <Frame label="What people were told">
          <table className="numbers">
            <thead>
              <tr>
                <th scope="col">What</th>
                <th scope="col">Channel</th>
                <th scope="col">State</th>
                <th scope="col">When</th>
              </tr>
            </thead>
            <tbody>
              {told.map((one) => (
                <Told key={one.notification_id} one={one} isLinked={!alertId} />
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
      No channel is configured: alerts are only seen here. Name some in <code>channels.yaml</code> in the home
      folder of kexbench, or in the file that <code>KEXBENCH_CHANNELS</code> names, then try them with{" "}
      <code>kexbench notify test</code>.
    </p>
  );
}

function Told({ one, isLinked }: { one: NotificationView; isLinked: boolean }) {
  return (
    <tr>
      <th scope="row">
        {isLinked && one.alert_id ? <Link {...paths.alert(one.alert_id)}>{one.title}</Link> : one.title}
      </th>
      <td className="whole">{one.channel}</td>
      <td>
        <span className={`chip ${toldChip(one.state)}`}>{one.state}</span>
        {one.detail && <small className="below">{one.detail}</small>}
      </td>
      <td className="whole">
        <time dateTime={one.at ?? one.created_at}>{dateTime(one.at ?? one.created_at)}</time>
      </td>
    </tr>
  );
}
