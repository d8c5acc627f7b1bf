// The flights of each handshake as bars against what their side may send before it waits.
import type { FlightView, HostKind, Subject } from "@/api/generated";
import { kilobytes } from "@/format";
import { ChartFrame } from "@/ui/ChartFrame";
import { Frame } from "@/ui/Frame";
import { captionOf, subjectsText } from "./chart-caption";
import { subjectTitle } from "./libraries";
import { excessText, type FlightRow } from "./paths-model";

const TITLE = "Flights against window and limit";
const FLIGHTS: { title: string; kinds: FlightView["kind"][] }[] = [
  { title: "ClientHello", kinds: ["client hello"] },
  { title: "Server's first flight", kinds: ["server flight", "limit"] },
  { title: "Client's last flight", kinds: ["client flight"] },
];

interface Props {
  rows: FlightRow[];
  subjects: Subject[];
  hostKind: HostKind;
}

export function FlightsTable({ rows, subjects, hostKind }: Props) {
  const longest = Math.max(
    ...rows.flatMap(({ flights }) =>
      flights.flatMap(({ size_bytes, limit_bytes }) => [size_bytes, limit_bytes]),
    ),
  );
  const titles = new Map(subjects.map((subject) => [subject.name, subjectTitle(subject)]));
  return (
    <ChartFrame caption={captionOf({ title: TITLE, subjects: subjectsText(subjects), hosts: [hostKind] })}>
      <p className="key">
        <i className="block exchange" aria-hidden /> bytes of a flight <i className="limit" aria-hidden />{" "}
        what may be sent at first <i className="block further" aria-hidden /> beyond it
      </p>
      <Frame label={TITLE}>
        <table className="numbers history by-path">
          <thead>
            <tr>
              <th scope="col">Case</th>
              {subjects.length > 1 && <th scope="col">Version</th>}
              {FLIGHTS.map(({ title }) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ title, subject, flights, paths }) => (
              <tr key={`${title} ${subject} ${paths}`}>
                <th scope="row">
                  {title}
                  <small className="below">{paths.join(", ")}</small>
                </th>
                {subjects.length > 1 && <td>{titles.get(subject)}</td>}
                {FLIGHTS.map(({ title, kinds }) => (
                  <td key={title} className="bars">
                    {flights
                      .filter(({ kind }) => kinds.includes(kind))
                      .map((flight, place) => (
                        // biome-ignore lint/suspicious/noArrayIndexKey: a second ClientHello follows the first
                        <Flight key={place} flight={flight} longest={longest} />
                      ))}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Frame>
    </ChartFrame>
  );
}

function Flight({ flight, longest }: { flight: FlightView; longest: number }) {
  const { size_bytes, limit_bytes } = flight;
  const excess = excessText(flight);
  const width = (bytes: number) => `${(100 * bytes) / longest}%`;
  return (
    <>
      <span className="blocks room" aria-hidden>
        <i className="block exchange" style={{ width: width(Math.min(size_bytes, limit_bytes)) }} />
        {excess && <i className="block further" style={{ width: width(size_bytes - limit_bytes) }} />}
        <i className="limit" style={{ left: width(limit_bytes) }} />
      </span>
      <span className="whole">
        {kilobytes(size_bytes)} of {kilobytes(limit_bytes)}
      </span>
      {excess && <b className="below excess">{excess}</b>}
    </>
  );
}
