// Why cells are missing: a line for each reason, its cells on demand.

interface Props {
  reasons: { words: string; cells: string[] }[];
}

export function Reasons({ reasons }: Props) {
  return reasons.map(({ words, cells }) => (
    <details key={words}>
      <summary>{words}</summary>
      <ul className="plain">
        {cells.map((cell) => (
          <li key={cell}>{cell}</li>
        ))}
      </ul>
    </details>
  ));
}
