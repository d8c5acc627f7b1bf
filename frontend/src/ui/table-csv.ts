// A table of a page as CSV: what is read in its cells.

/** The rows of a table. A cell that spans columns is followed by empty ones, so that columns stay below their titles. */
export function rowsOf(table: HTMLTableElement): string[][] {
  const rows: string[][] = Array.from(table.rows, () => []);
  Array.from(table.rows).forEach((row, index) => {
    let column = 0;
    for (const cell of row.cells) {
      while (rows[index]?.[column] !== undefined) column += 1; // taken by a cell that spans rows
      for (const below of rows.slice(index, index + cell.rowSpan)) {
        for (let across = 0; across < cell.colSpan; across += 1) below[column + across] = "";
      }
      rows[index]?.splice(column, 1, textOf(cell));
    }
  });
  return rows;
}

/** As RFC 4180 says. */
export function csvOf(rows: string[][]): string {
  return rows.map((row) => `${Array.from(row, (text = "") => quoted(text)).join(",")}\r\n`).join("");
}

/** Without what only decorates; parts that stand on lines of their own are separate words. */
function textOf(cell: HTMLTableCellElement): string {
  const copy = cell.cloneNode(true) as HTMLElement;
  for (const decoration of copy.querySelectorAll("[aria-hidden]")) decoration.remove();
  for (const part of copy.querySelectorAll(".below, br, li, small")) part.before(" ");
  return (copy.textContent ?? "").replace(/\s+/g, " ").trim();
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
