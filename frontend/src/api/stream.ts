// Server-sent events of the service. A page whose stream is not up polls.
import { useEffect, useEffectEvent, useState } from "react";

const API = "/api/v1/";

/** Follows a stream of the API, none for `null`. Returns whether it is up. The browser reconnects by itself and names the
 * last event that it saw. A refused stream stays down, and so does one where there are none, as in tests. */
export function useStream<News>(route: string | null, receive: (news: News) => void): boolean {
  const [isUp, setUp] = useState(false);
  const received = useEffectEvent((event: MessageEvent<string>) => receive(JSON.parse(event.data) as News));
  useEffect(() => {
    if (route === null || !("EventSource" in globalThis)) return;
    const stream = new EventSource(`${API}${route}`);
    stream.onopen = () => setUp(true);
    stream.onerror = () => setUp(false);
    stream.onmessage = (event) => received(event);
    return () => {
      stream.close();
      setUp(false);
    };
  }, [route]);
  return isUp;
}
