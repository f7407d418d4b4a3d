/** The spec as text, both ways: what parses goes into the form, what does not stays here with its error. */
import { Alert, Group, SegmentedControl, Textarea } from "@mantine/core";
import { useState } from "react";
import { parse, stringify } from "yaml";
import type { Json } from "@/api/model";
import { CopyIcon } from "@/ui/CopyText";
import classes from "./create.module.css";

interface Props {
  value: Json;
  onChange: (value: Json) => void;
  errors: { pointer: string; detail: string }[];
}

type Format = "yaml" | "json";
const write = (value: Json, format: Format) => (format === "yaml" ? stringify(value) : JSON.stringify(value, null, 2));

export function TextTab({ value, onChange, errors }: Props) {
  const [format, setFormat] = useState<Format>("yaml");
  const [text, setText] = useState(() => write(value, "yaml"));
  const [fault, setFault] = useState<string | null>(null);
  const change = (next: string) => {
    setText(next);
    try {
      const read = (format === "yaml" ? parse(next) : JSON.parse(next)) as Json;
      if (typeof read !== "object" || read === null || Array.isArray(read)) throw new Error("A spec is an object.");
      setFault(null);
      onChange(read);
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <div>
      <Group justify="space-between" mb="xs">
        <SegmentedControl
          size="xs"
          data={[
            { value: "yaml", label: "YAML" },
            { value: "json", label: "JSON" },
          ]}
          value={format}
          onChange={next => {
            setFormat(next as Format);
            setText(write(value, next as Format));
            setFault(null);
          }}
          aria-label="Format"
        />
        <CopyIcon value={text} label="Copy the spec" />
      </Group>
      {fault && (
        <Alert color="red" p="xs" mb="xs" role="alert">
          <pre style={{ margin: 0, whiteSpace: "pre-wrap", fontSize: 12 }}>{fault}</pre>
        </Alert>
      )}
      {!fault && errors.length > 0 && (
        <Alert color="red" p="xs" mb="xs" role="alert">
          {errors.map(error => (
            <div key={error.pointer + error.detail} style={{ fontSize: 12.5 }}>
              <span className="mono">{error.pointer.slice(1).replaceAll("/", ".")}</span>: {error.detail}
            </div>
          ))}
        </Alert>
      )}
      <Textarea
        className={classes.editor}
        aria-label="Spec"
        autosize
        minRows={24}
        spellCheck={false}
        value={text}
        onChange={event => change(event.currentTarget.value)}
      />
    </div>
  );
}
