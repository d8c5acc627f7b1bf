// Downloads of the samples behind a page.
import type { MouseEvent } from "react";
import { type ExportQuery, exportPath } from "@/paths";
import { publishedSamples, site } from "@/published";
import { download } from "@/ui/download";

interface Props {
  query: Omit<ExportQuery, "format">;
}

const FORMATS = { csv: "CSV", parquet: "Parquet", json: "JSON" } as const;
type Format = keyof typeof FORMATS;
/** A site has one file of samples for each series. */
const OFFERED: Format[] = site ? ["csv"] : ["csv", "parquet", "json"];

export function SampleLinks({ query }: Props) {
  return (
    <p>
      Download samples as{" "}
      {OFFERED.map((format, place) => (
        <span key={format}>
          {place > 0 && ", "}
          <SampleLink query={query} format={format} />
        </span>
      ))}
    </p>
  );
}

function SampleLink({ query, format }: Props & { format: Format }) {
  const address = exportPath({ ...query, format });
  const name = `kexbench-samples.${format}`;
  const unpack = async (event: MouseEvent) => {
    event.preventDefault();
    download(name, await publishedSamples(address));
  };
  return (
    <a
      href={address}
      download={name}
      aria-label={`Download samples as ${FORMATS[format]}`}
      onClick={site && ((event) => void unpack(event))}
    >
      {FORMATS[format]}
    </a>
  );
}
