// How to measure something, where nothing is stored.
import { Code } from "@/ui/Code";

const COMMAND = "kexbench run quickstart";

export function FirstRun({
  how = "This small spec compares two versions each of OpenSSL and GnuTLS:",
  command = COMMAND,
}) {
  return (
    <>
      <p>{how}</p>
      <Code className="command">{command}</Code>
    </>
  );
}
