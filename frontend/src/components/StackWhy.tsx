// How to explain the difference of two stacks of common ancestry, function by function.
import { Code } from "@/ui/Code";

export function StackWhy({ commands }: { commands: string[] }) {
  if (commands.length === 0) return null;
  return (
    <section>
      <h2>Why do two differ?</h2>
      <p>
        Some of these libraries have a common ancestry, so many of their functions have the same names. These
        commands count the instructions of two, function by function:
      </p>
      {commands.map((command) => (
        <Code key={command}>{command}</Code>
      ))}
    </section>
  );
}
