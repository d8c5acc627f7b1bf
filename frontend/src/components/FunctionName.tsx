// A function's name: symbols as code, words as words. Long symbols break after their underscores first.
import { Fragment } from "react";
import { isNamed } from "./why-model";

interface Props {
  name: string;
  /** in the later version, if it was renamed */
  laterName?: string;
}

export function FunctionName({ name, laterName = name }: Props) {
  if (laterName !== name) {
    return (
      <>
        <FunctionName name={name} /> → <FunctionName name={laterName} />
      </>
    );
  }
  if (!isNamed(name)) return name;
  return (
    <code className="symbol">
      {name.split(/(?<=_)(?=[^_])/).map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of one name, which never move
        <Fragment key={index}>
          {index > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </code>
  );
}
