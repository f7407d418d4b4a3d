import { Textarea } from "@mantine/core";
import { useState } from "react";
import type { Json } from "@/api/model";
import { MONO } from "@/ui/styles";

interface Props {
  id: string;
  value: Json | undefined;
  onChange: (value: Json) => void;
  error?: string;
  disabled?: boolean;
}

/** For values that no other input fits. */
export function JsonField({ id, value, onChange, error, disabled }: Props) {
  const [text, setText] = useState<string | null>(null);
  const [broken, setBroken] = useState(false);
  const change = (next: string) => {
    setText(next);
    try {
      onChange(JSON.parse(next) as Json);
      setBroken(false);
    } catch {
      setBroken(true); // said at the field; the last good value stays
    }
  };
  return (
    <Textarea
      id={id}
      autosize
      minRows={1}
      maxRows={12}
      styles={MONO}
      value={text ?? JSON.stringify(value ?? null, null, 2)}
      onChange={event => change(event.currentTarget.value)}
      onBlur={() => !broken && setText(null)}
      error={broken ? "Invalid JSON." : error}
      disabled={disabled}
    />
  );
}
