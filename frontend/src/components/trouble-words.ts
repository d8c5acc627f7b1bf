// What the foot of a page says about a part of the service that does not work.
import type { TroubleView } from "@/api/generated";
import { dateTime } from "@/format";

/** Stands for a full disk of the store, whichever parts cannot write. */
const ROOM = "room";

export function troubleWords({ part, since, reason }: TroubleView): string {
  const moment = dateTime(since);
  return part === ROOM ? `Since ${moment} ${reason}.` : `${part} has been failing since ${moment}: ${reason}`;
}
