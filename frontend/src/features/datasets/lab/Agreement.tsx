/** Agreement of a judge with people, and rows for them to mark without seeing its scores. */
import { Button, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import * as api from "@/api/client";
import type { Marks, ReviewerAgreement, RowToMark } from "@/api/model";
import { useCan } from "@/features/session/session";
import { Loaded } from "@/ui/Loaded";
import { Nothing } from "@/ui/Nothing";
import { toastError } from "@/ui/toast";
import { agreementText } from "./lab-text";
import { marksQuery } from "./queries";

interface Props {
  job: string;
  threshold: number;
  /** Whether a person marks rows: then neither scores nor agreement are shown. */
  marking: boolean;
  onMarking: (marking: boolean) => void;
}

export function Agreement({ job, threshold, marking, onMarking }: Props) {
  const editor = useCan("editor");
  const client = useQueryClient();
  const query = useQuery(marksQuery(job, threshold));
  const mark = useMutation({
    mutationFn: (said: Said) => api.markLabRows(job, { marks: [said] }),
    onError: error => toastError("The mark was not saved", error),
    onSuccess: (_, { row, word }) =>
      client.setQueriesData<Marks>({ queryKey: ["lab-jobs", job, "marks"] }, old =>
        old ? { ...old, rows: old.rows.map(one => (one.index === row ? { ...one, mine: word } : one)) } : old,
      ),
  });
  const toggle = () => {
    // The agreement has changed, and so has what the report reports about rows.
    if (marking) void client.invalidateQueries({ queryKey: ["lab-jobs", job] });
    onMarking(!marking);
  };
  return (
    <section aria-label="Agreement with people">
      <Group justify="space-between" mb={4}>
        <Title order={3} size="h5">
          Agreement with people
        </Title>
        {editor && query.data && (
          <Button size="xs" variant="default" onClick={toggle}>
            {marking ? "Show the agreement" : "Mark rows"}
          </Button>
        )}
      </Group>
      <Loaded query={query}>
        {({ rows, reviewers }) =>
          marking ? (
            <Marking
              rows={rows}
              busy={mark.isPending}
              onSay={(said, onKept) => mark.mutate(said, { onSuccess: onKept })}
            />
          ) : (
            <Reviewers reviewers={reviewers} />
          )
        }
      </Loaded>
    </section>
  );
}

export function Reviewers({ reviewers }: { reviewers: ReviewerAgreement[] }) {
  if (reviewers.length === 0)
    return <Nothing>No rows marked yet, so it is unknown whether this judge agrees with people.</Nothing>;
  return (
    <Stack gap={4} component="ul" p={0} m={0} style={{ listStyle: "none" }} aria-label="Agreement by person">
      {reviewers.map(one => (
        <li key={one.reviewer}>
          <Text size="sm" style={{ overflowWrap: "anywhere" }}>
            {one.reviewer} {agreementText(one)}.
          </Text>
          <Text size="xs" c="dimmed">
            Good for both {one.both_good}, for the judge alone {one.judge_only}, for the person alone {one.person_only},
            bad for both {one.both_bad}. The sample has as many low scores as high ones.
          </Text>
        </li>
      ))}
    </Stack>
  );
}

interface Said {
  row: number;
  word: "good" | "bad";
}

interface MarkingProps {
  rows: RowToMark[];
  busy: boolean;
  /** Calls back once what was said is kept. */
  onSay: (said: Said, onKept: () => void) => void;
}

export function Marking({ rows, busy, onSay }: MarkingProps) {
  const open = rows.findIndex(row => row.mine === null);
  const [place, setPlace] = useState(open < 0 ? 0 : open);
  const row = rows[place];
  const marked = rows.filter(one => one.mine !== null).length;
  if (!row) return <Nothing>No scored rows to mark.</Nothing>;
  // The buttons stay enabled while a mark is sent: one that is disabled loses the keyboard's focus.
  const say = (word: Said["word"]) => {
    if (!busy) onSay({ row: row.index, word }, () => setPlace(Math.min(place + 1, rows.length - 1)));
  };
  return (
    <Paper withBorder p="sm" data-testid="lab-marking">
      <Text size="xs" c="dimmed" role="status">
        Row {place + 1} of {rows.length}, {marked} marked. Give your own verdict; the judge’s is hidden.
      </Text>
      <Stack
        gap="xs"
        my="sm"
        mah={320}
        style={{ overflowY: "auto" }}
        tabIndex={0}
        role="group"
        aria-label="Row to mark"
      >
        {row.columns.map(column => (
          <div key={column.name}>
            <Text size="xs" c="dimmed">
              {column.name}
            </Text>
            <Text size="sm" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
              {column.text || "nothing"}
            </Text>
          </div>
        ))}
      </Stack>
      <Group gap="xs">
        {(["good", "bad"] as const).map(word => (
          <Button
            key={word}
            size="xs"
            variant={row.mine === word ? "filled" : "default"}
            aria-pressed={row.mine === word}
            onClick={() => say(word)}
          >
            {word === "good" ? "Good" : "Bad"}
          </Button>
        ))}
        <Button size="xs" variant="subtle" disabled={place === 0} onClick={() => setPlace(place - 1)}>
          Back
        </Button>
        <Button size="xs" variant="subtle" disabled={place >= rows.length - 1} onClick={() => setPlace(place + 1)}>
          Skip
        </Button>
      </Group>
    </Paper>
  );
}
