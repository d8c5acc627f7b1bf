// Server-sent events of the service. A page whose stream is not up polls.
import { focusManager } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useState, useSyncExternalStore } from "react";

const API = "/api/v1/";

/** Follows a stream of the API, none for `null`. Returns whether it is up. The browser reconnects by itself and names the
 * last event that it saw. A refused stream stays down, and so does one where there are none, as in tests. A hidden tab has
 * no stream: without HTTP/2, a browser has six connections to a service, for all tabs together. */
export function useStream<News>(route: string | null, receive: (news: News) => void): boolean {
  const [isUp, setUp] = useState(false);
  const received = useEffectEvent((event: MessageEvent<string>) => receive(JSON.parse(event.data) as News));
  const isShown = useSyncExternalStore(focusManager.subscribe, () => focusManager.isFocused());
  useEffect(() => {
    if (route === null || !isShown || !("EventSource" in globalThis)) return;
    const stream = new EventSource(`${API}${route}`);
    stream.onopen = () => setUp(true);
    stream.onerror = () => setUp(false);
    stream.onmessage = (event) => received(event);
    return () => {
      stream.close();
      setUp(false);
    };
  }, [route, isShown]);
  return isUp;
}
