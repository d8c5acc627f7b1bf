// What stands above the picture of a chart: its title, what was measured, where and when. Pure.
import type { HostKind, Subject } from "@/api/generated";
import type { DrawnLine } from "@/charts/trends-model";
import { count, day } from "@/format";
import type { Caption } from "@/picture/picture";
import { versionText } from "@/subjects";
import { hostLabel } from "./HostSelect";
import { libraryTitle } from "./libraries";

interface About {
  title: string;
  /** versions, as `subjectsText` writes them */
  subjects: string;
  hosts: Pick<HostKind, "pool" | "cpu_model">[];
  /** when the results were measured; where that is not known, the picture has its own date */
  measured?: string[];
}

/** More are counted. */
const NAMED = 4;

export function captionOf({ title, subjects, hosts, measured = [] }: About, today = new Date()): Caption {
  const kinds = [...new Set(hosts.map(hostLabel))];
  const where = kinds.length > NAMED ? [`${count(kinds.length, "host kind")}`] : kinds;
  const facts = [subjects, where.join("; "), datesText(measured, today)];
  return { title, facts: facts.filter(Boolean) };
}

/** Of the chart of some trends. */
export function captionOfLines(lines: DrawnLine[], title: string): Caption {
  const places = lines.flatMap(({ points }) => points);
  return captionOf({
    title,
    subjects: subjectsText(places.map(({ subject }) => subject)),
    hosts: lines.map(({ place }) => place.host_kind),
    measured: places.map(({ point }) => point.measured_at),
  });
}

function datesText(measured: string[], today: Date): string {
  const dates = measured.map((date) => date.slice(0, 10)).sort();
  if (dates.length === 0) return `As of ${day(today.toISOString().slice(0, 10))}`;
  const [first, last] = [dates[0], dates.at(-1)].map((date) => day(date as string)); // of many dates, only these two
  return first === last ? `Measured on ${first}` : `Measured from ${first} to ${last}`;
}

/** "OpenSSL 3.0.20, 3.5.4; GnuTLS 3.6.0 to 3.8.9 (12 versions)", in the order of the subjects. */
export function subjectsText(subjects: Pick<Subject, "library" | "version" | "commit">[]): string {
  const libraries = [...new Set(subjects.map(({ library }) => library))];
  return libraries
    .map((library) => {
      const own = subjects.filter((subject) => subject.library === library);
      const versions = [...new Set(own.map(versionText))];
      const range = `${versions[0]} to ${versions.at(-1)} (${count(versions.length, "version")})`;
      return `${libraryTitle(library)} ${versions.length > NAMED ? range : versions.join(", ")}`;
    })
    .join("; ");
}
