import { expect, it } from "vitest";
import { csvOf } from "./table-csv";

it("quotes what would end a field of a CSV file", () => {
  const rows = [
    ["Case", "Cost"],
    ["TLS 1.2, RSA", '5% "more"'],
    ["", "two\nlines"],
  ];
  expect(csvOf(rows)).toBe('Case,Cost\r\n"TLS 1.2, RSA","5% ""more"""\r\n,"two\nlines"\r\n');
});
