/** Python with colours, line numbers and indentation; a plain text field until the editor is there, or where it fails. */
import { Text, Textarea } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import type { PythonEditor } from "./pythonEditor";
import { MONO } from "./styles";

interface Props {
  id: string;
  label: string;
  value: string;
  error?: string;
  onChange: (text: string) => void;
}

export function CodeEditor({ id, label, value, error, onChange }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<PythonEditor | null>(null);
  const [ready, setReady] = useState(false);
  const latest = useRef({ value, onChange });
  useEffect(() => {
    latest.current = { value, onChange };
    editor.current?.show(value);
  });
  useEffect(() => {
    let gone = false;
    void import("./pythonEditor").then(
      ({ mountPythonEditor }) => {
        if (gone || !place.current) return;
        const { value: text } = latest.current;
        editor.current = mountPythonEditor(place.current, text, {}, next => latest.current.onChange(next));
        setReady(true);
      },
      () => {}, // the text field stays
    );
    return () => {
      gone = true;
      editor.current?.destroy();
      editor.current = null;
    };
  }, []);
  useEffect(() => {
    editor.current?.describe({
      id,
      "aria-label": label,
      "aria-invalid": String(error !== undefined),
      "aria-describedby": `${id}-help`,
    });
  }, [id, label, error, ready]);
  return (
    <div>
      {!ready && (
        <Textarea
          id={id}
          autosize
          minRows={6}
          maxRows={24}
          styles={MONO}
          value={value}
          onChange={event => onChange(event.currentTarget.value)}
          spellCheck={false}
        />
      )}
      <div ref={place} />
      {error && (
        <Text size="xs" c="var(--c-bad)" mt={4} role="alert">
          {error}
        </Text>
      )}
      <Text id={`${id}-help`} size="xs" c="dimmed" mt={2}>
        Tab indents. Press Esc, then Tab, to leave the editor.
      </Text>
    </div>
  );
}
