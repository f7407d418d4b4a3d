/** Result of a memorisation test: the memorised rows, and the largest overlaps. */
import { Badge, Group, Paper, Stack, Text, Title } from "@mantine/core";
import type { MemorisationReport, MemorisedRow } from "@/api/model";
import { formatPercent } from "@/lib/format";
import { Facts } from "@/ui/Facts";
import { Nothing } from "@/ui/Nothing";
import { ShareBins } from "./ShareBins";
import { ShownText } from "./ShownText";

const count = (value: number) => value.toLocaleString("en-GB");
const SHOWN = 10;

export function MemorisedRows({ report }: { report: MemorisationReport }) {
  if (report.tried === 0)
    return (
      <Nothing>
        No row was tested: of {count(report.left_out)} the continuation is too short. Allow a shorter one, or show less
        of the prompt.
      </Nothing>
    );
  const alike = report.histogram.at(-1);
  return (
    <>
      <Facts
        facts={[
          ["Rows tested", count(report.tried)],
          ["Memorised", `${count(report.completed)} (${formatPercent(report.share)})`],
          ["95 % interval", `${formatPercent(report.low)} to ${formatPercent(report.high)}`],
          ["Mean overlap", formatPercent(report.overlap)],
          ["Too short", count(report.left_out)],
          ...(report.with_answer > 0
            ? [
                [
                  "Correct answer from the beginning alone",
                  `${count(report.answered)} of ${count(report.with_answer)}`,
                ] as [string, string],
              ]
            : []),
        ]}
      />
      <ShareBins
        bins={report.histogram}
        label={`Overlaps of ${count(report.tried)} rows with what the model wrote`}
        note={alike === undefined ? "" : `${count(alike.rows)} of ${formatPercent(alike.least)} and more`}
        isBad={bin => bin === alike}
      />
      <section aria-label="Largest overlaps">
        <Title order={3} size="h5" mb={4}>
          Largest overlaps
        </Title>
        <Stack gap="xs" component="ul" p={0} m={0} style={{ listStyle: "none" }}>
          {report.most.slice(0, SHOWN).map(one => (
            <Tried key={one.row.index} one={one} />
          ))}
        </Stack>
      </section>
    </>
  );
}

function Tried({ one }: { one: MemorisedRow }) {
  return (
    <Paper withBorder p="xs" component="li">
      <Group gap="xs" mb={4}>
        <Badge variant="light" color={one.completed ? "red" : "gray"}>
          {one.completed ? "verbatim" : `${formatPercent(one.overlap)} overlap`}
        </Badge>
        {one.answered && (
          <Badge variant="light" color="yellow">
            answered correctly
          </Badge>
        )}
      </Group>
      <ShownText row={one.row} />
      <Part label="Actual continuation" text={one.expected} />
      <Part label="Model output" text={one.said} />
    </Paper>
  );
}

function Part({ label, text }: { label: string; text: string }) {
  return (
    <Text size="xs" mt={2} style={{ overflowWrap: "anywhere" }}>
      <Text span size="xs" c="dimmed">
        {label}:{" "}
      </Text>
      {text.trim() || "nothing"}
    </Text>
  );
}
