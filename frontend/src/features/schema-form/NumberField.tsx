/** A number as text, so that 3e-4 can be typed; what is no number stays visible and is refused by the platform. */
import { Text, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { Json } from "@/api/model";

interface Props {
  id?: string;
  value: Json | undefined;
  onChange: (value: Json) => void;
  unit?: string;
  error?: ReactNode;
  disabled?: boolean;
  label?: string;
  placeholder?: string;
  /** Shown but not labelled visibly. */
  ariaLabel?: string;
  onEnter?: () => void;
  size?: string;
}

export function NumberField({
  id,
  value,
  onChange,
  unit,
  error,
  disabled,
  label,
  ariaLabel,
  placeholder,
  onEnter,
  size,
}: Props) {
  const [text, setText] = useState<string | null>(null);
  const shown = text ?? (value === null || value === undefined ? "" : numberText(value));
  const change = (next: string) => {
    setText(next);
    const parsed = parseNumber(next);
    onChange(parsed ?? (next.trim() === "" ? null : next));
  };
  return (
    <TextInput
      id={id}
      size={size}
      label={label}
      aria-label={ariaLabel}
      inputMode="decimal"
      className="num"
      value={shown}
      placeholder={placeholder}
      onChange={event => change(event.currentTarget.value)}
      onBlur={() => setText(null)}
      onKeyDown={event => {
        if (event.key === "Enter") onEnter?.();
      }}
      error={error}
      disabled={disabled}
      rightSection={
        unit ? (
          <Text size="xs" c="dimmed" pr={10}>
            {unit}
          </Text>
        ) : undefined
      }
      rightSectionWidth={unit ? unit.length * 7 + 18 : undefined}
      rightSectionPointerEvents="none"
    />
  );
}

/** A finite number, or null when `text` is none. Commas are refused rather than guessed at. */
export function parseNumber(text: string): number | null {
  const cleaned = text.trim().replace("−", "-");
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(cleaned)) return null;
  const value = Number(cleaned);
  return Number.isFinite(value) ? value : null;
}

/** Small numbers as 3e-4, all others plain. */
export function numberText(value: Json): string {
  if (typeof value !== "number") return typeof value === "string" ? value : JSON.stringify(value);
  return value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential().replace("e-", "e-") : String(value);
}
