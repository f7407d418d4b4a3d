import { Button, Group, Stack, Text, Textarea } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import { PastedSamples } from "@/features/rewards/samples/PastedSamples";
import { MAX_SAMPLES, type Pasted, readLines } from "@/features/rewards/samples/samples";
import { MONO } from "@/ui/styles";
import classes from "./bench.module.css";

interface Props {
  samples: Pasted[];
  onSamples: (next: Pasted[]) => void;
  error: unknown;
}

/** Samples one by one in fields, or many at once as JSON Lines. */
export function Paste({ samples, onSamples, error }: Props) {
  const [many, { open, close }] = useDisclosure(false);
  const [text, setText] = useState("");
  const read = readLines(text);
  const fault = read.fault && `Line ${read.fault.line} ${read.fault.reason}.`;
  if (many) {
    return (
      <Stack gap="xs">
        <Textarea
          label="JSON Lines"
          description='One {"output_text": …, "item": {…}} per line; item is the dataset row.'
          autosize
          minRows={6}
          maxRows={14}
          value={text}
          onChange={event => setText(event.currentTarget.value)}
          error={fault ?? undefined}
          spellCheck={false}
          styles={MONO}
          data-testid="bench-lines"
        />
        <Group gap="xs" justify="flex-end">
          <Text size="xs" c="dimmed" flex={1} className="num">
            {read.samples.length > MAX_SAMPLES && `Only the first ${MAX_SAMPLES} are used.`}
          </Text>
          <Button size="xs" variant="default" onClick={close}>
            Back
          </Button>
          <Button
            size="xs"
            disabled={read.samples.length === 0 || read.fault !== null}
            onClick={() => {
              onSamples(read.samples.slice(0, MAX_SAMPLES));
              close();
            }}
          >
            Use samples {Math.min(read.samples.length, MAX_SAMPLES)}
          </Button>
        </Group>
      </Stack>
    );
  }
  return (
    <div className={classes.scroll}>
      <PastedSamples
        samples={samples}
        onChange={onSamples}
        error={error}
        maxRows={5}
        tools={
          <Button size="compact-xs" variant="subtle" onClick={open}>
            Paste many as JSON Lines
          </Button>
        }
      />
    </div>
  );
}
