/** A verdict on a gold answer: correct, wrong with the correct answer, or leave the row out. */
import { Button, Group, SegmentedControl, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { errorText } from "@/api/http";
import type { AskedVerdictRequest, Profile, RowVerdict } from "@/api/model";
import { formatAgo } from "@/lib/format";

interface Props {
  suspect: NonNullable<Profile["report"]>["suspects"][number];
  said: RowVerdict | undefined;
  disabled: boolean;
  editor: boolean;
  /** Why the last verdict on this row was not kept. */
  error: Error | null;
  onSay: (verdict: AskedVerdictRequest) => void;
}

const CHOICES = [
  { value: "right", label: "Correct" },
  { value: "wrong", label: "Wrong" },
  { value: "leave_out", label: "Leave out" },
] as const;

export function SuspectVerdict({ suspect, said, disabled, editor, error, onSay }: Props) {
  const [answer, setAnswer] = useState(said?.answer ?? suspect.answer);
  const { row, id } = suspect;
  if (!editor)
    return (
      <Text size="sm">
        {said ? `${CHOICES.find(({ value }) => value === said.verdict)?.label}` : "None yet"}
        {said?.answer && `: ${said.answer}`}
        <By said={said} />
      </Text>
    );
  const correct = () => {
    const right = answer.trim();
    if (right && right !== said?.answer) onSay({ row, verdict: "wrong", answer: right });
  };
  return (
    <Stack gap={4}>
      <SegmentedControl
        size="xs"
        aria-label={`Verdict on the gold answer of ${id}`}
        data={[...CHOICES]}
        value={said?.verdict ?? ""}
        disabled={disabled}
        onChange={next =>
          onSay({
            row,
            verdict: next as NonNullable<AskedVerdictRequest["verdict"]>,
            ...(next === "wrong" ? { answer: answer.trim() || suspect.answer } : {}),
          })
        }
      />
      {said?.verdict === "wrong" && (
        <TextInput
          size="xs"
          aria-label={`Correct answer of ${id}`}
          value={answer}
          maxLength={2000}
          onChange={event => setAnswer(event.currentTarget.value)}
          onBlur={correct}
          onKeyDown={event => {
            if (event.key === "Enter") correct();
          }}
        />
      )}
      {said && (
        <Group gap="xs">
          <By said={said} />
          <Button
            size="compact-xs"
            variant="subtle"
            disabled={disabled}
            aria-label={`Undo the verdict on ${id}`}
            onClick={() => onSay({ row, verdict: null })}
          >
            Undo
          </Button>
        </Group>
      )}
      {error && (
        <Text size="xs" c="red" role="alert">
          {errorText(error)}
        </Text>
      )}
    </Stack>
  );
}

function By({ said }: { said: RowVerdict | undefined }) {
  if (!said) return null;
  return (
    <Text size="xs" c="dimmed" span>
      {" "}
      {said.by}, {formatAgo(said.at)}
    </Text>
  );
}
