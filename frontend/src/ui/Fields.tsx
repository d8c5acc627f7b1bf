// Native form elements with their labels.
import type { ReactNode } from "react";

export interface Choice<T extends string> {
  value: T;
  label: string;
  /** choices of one group stand together under its name */
  group?: string;
  disabled?: boolean;
}

interface SelectProps<T extends string> {
  label: string;
  value: T;
  choices: Choice<T>[];
  choose: (value: T) => void;
}

export function Select<T extends string>({ label, value, choices, choose }: SelectProps<T>) {
  return (
    <label className="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => choose(event.target.value as T)}>
        {!choices.some((choice) => choice.value === value) && <option value={value}>–</option>}
        {[...new Set(choices.map((choice) => choice.group))].map((group) => {
          const options = (
            <Options key={group ?? ""} choices={choices.filter((choice) => choice.group === group)} />
          );
          return group ? (
            <optgroup key={group} label={group}>
              {options}
            </optgroup>
          ) : (
            options
          );
        })}
      </select>
    </label>
  );
}

function Options<T extends string>({ choices }: { choices: Choice<T>[] }) {
  return choices.map((choice) => (
    <option key={choice.value} value={choice.value} disabled={choice.disabled}>
      {choice.label}
    </option>
  ));
}

/** A few exclusive choices side by side. */
export function Toggle<T extends string>({ label, value, choices, choose }: SelectProps<T>) {
  return (
    <fieldset className="field toggle">
      <legend>{label}</legend>
      <div>
        {choices.map((choice) => (
          <label key={choice.value}>
            <input
              type="radio"
              name={label}
              checked={choice.value === value}
              onChange={() => choose(choice.value)}
            />
            <span>{choice.label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface ChecksProps {
  label: string;
  all: string[];
  /** what is read instead of a long value, which is then read on demand */
  nameOf?: (value: string) => string;
  /** none chosen means all */
  chosen: string[];
  choose: (chosen: string[]) => void;
}

export function Checks({ label, all, nameOf = String, chosen, choose }: ChecksProps) {
  const isOn = (name: string) => chosen.length === 0 || chosen.includes(name);
  const flip = (name: string) => {
    const on = all.filter((other) => (other === name ? !isOn(other) : isOn(other)));
    choose(on.length === all.length ? [] : on);
  };
  return (
    <fieldset className="field checks">
      <legend>{label}</legend>
      <div>
        {all.map((name) => (
          <label key={name} title={nameOf(name) === name ? undefined : name}>
            <input type="checkbox" checked={isOn(name)} onChange={() => flip(name)} />
            {nameOf(name)}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface TextProps {
  label: string;
  value: string;
  placeholder: string;
  enter: (value: string) => void;
}

export function TextFilter({ label, value, placeholder, enter }: TextProps) {
  return (
    <label className="field">
      <span>{label}</span>
      <input
        type="search"
        value={value}
        placeholder={placeholder}
        onChange={(event) => enter(event.target.value)}
      />
    </label>
  );
}

interface AmountProps {
  label: string;
  value: number;
  min: number;
  max: number;
  /** absent: whole numbers */
  step?: "any";
  /** hears whatever is typed: half a number is no fault yet */
  enter: (text: string) => void;
}

export function Amount({ label, value, min, max, step, enter }: AmountProps) {
  return (
    <label className="field">
      <span>{label}</span>
      <input
        type="number"
        defaultValue={value}
        min={min}
        max={max}
        step={step}
        onChange={(event) => enter(event.target.value)}
      />
    </label>
  );
}

export function Facts({ facts }: { facts: [string, ReactNode][] }) {
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A fact of several lines, or "unknown". */
export function Lines({ lines }: { lines: string[] }) {
  if (lines.length === 0) return "unknown";
  return lines.map((line) => (
    <span key={line} className="below">
      {line}
    </span>
  ));
}
