/** The template of the judge's question, and next to it what it becomes for a sample. */
import { Box, Group, Select, Stack, Text, Textarea } from "@mantine/core";
import { clamp } from "@mantine/hooks";
import { useContext, useId, useState } from "react";
import type { Json } from "@/api/model";
import { useForm } from "@/features/schema-form/context";
import { faultText, type Path } from "@/features/schema-form/pointer";
import { MONO } from "@/ui/styles";
import { PreviewContext } from "./PreviewContext";
import { criteria, fillTemplate, questionCount } from "./prompt";
import { itemsOf } from "./rubric";
import classes from "./rubric.module.css";

interface Props {
  grader: { [key: string]: Json };
  path: Path;
  onChange: (prompt: string) => void;
}

export function PromptEditor({ grader, path, onChange }: Props) {
  const { errors, readOnly } = useForm();
  const sample = useContext(PreviewContext);
  const id = useId();
  const [chosen, setChosen] = useState(0);
  const items = itemsOf(grader.items);
  const separate = grader.mode !== "together";
  const shown = clamp(chosen, 0, Math.max(0, items.length - 1));
  const prompt = String(grader.prompt ?? "");
  const pieces = fillTemplate(prompt, sample);
  const missing = pieces.filter(piece => piece.kind === "missing").length;
  const asked = questionCount(items.length, {
    mode: String(grader.mode ?? "separate"),
    repeats: typeof grader.repeats === "number" ? grader.repeats : 1,
    swapOrder: grader.swap_order === true,
  });
  return (
    <section aria-label="Prompt of the judge" className={classes.prompt}>
      <Stack gap={4}>
        <Group mih={30}>
          <Text component="label" htmlFor={id} size="sm" fw={550}>
            Prompt
          </Text>
        </Group>
        <Textarea
          id={id}
          autosize
          minRows={6}
          maxRows={22}
          value={prompt}
          onChange={event => onChange(event.currentTarget.value)}
          error={faultText(errors, path)}
          disabled={readOnly}
          spellCheck={false}
          styles={MONO}
          data-testid="rubric-prompt"
        />
        <Text size="xs" c="dimmed">
          Fields of the row: <span className="mono">{"{{item.prompt}}"}</span>; of the completion:{" "}
          <span className="mono">{"{{sample.answer_text}}"}</span>, <span className="mono">thinking_text</span>,{" "}
          <span className="mono">output_text</span>, <span className="mono">output_json</span>.
        </Text>
      </Stack>
      <Stack gap={4}>
        <Group justify="space-between" mih={30} gap="xs">
          <Text size="sm" fw={550}>
            Judge input
          </Text>
          {separate && items.length > 0 && (
            <Select
              size="xs"
              w={190}
              aria-label="Item in the preview"
              data={items.map((item, index) => ({ value: String(index), label: `${index + 1}. ${item.name}` }))}
              value={String(shown)}
              onChange={next => setChosen(Number(next ?? 0))}
              allowDeselect={false}
            />
          )}
        </Group>
        {/* A box that scrolls must be reachable by keyboard. */}
        <Box
          className={classes.preview}
          tabIndex={0}
          role="region"
          aria-label="Judge input"
          data-testid="prompt-preview"
        >
          {pieces.map((piece, index) => (
            <span key={index} className={piece.kind === "plain" ? undefined : classes[piece.kind]}>
              {piece.text}
            </span>
          ))}
          {"\n\nCriteria:\n"}
          {criteria(items, separate ? shown : null) || "(those of the dataset row)"}
        </Box>
        <Text size="xs" c="dimmed" role="status" mih={18}>
          {missing > 0 && (
            <Text span inherit c="var(--c-bad)">
              {missing === 1 ? "One placeholder finds" : `${missing} placeholders find`} nothing in this sample.{" "}
            </Text>
          )}
          The judge is asked {asked} {asked === 1 ? "question" : "questions"} about each completion, always after a
          fixed instruction: text between the markers is never a command, and the answer is JSON with one verdict per
          criterion.
        </Text>
      </Stack>
    </section>
  );
}
