/** Result of a synthesis: the version, kept variations, and rejected ones with reasons. */
import { Badge, Group, Paper, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import type { LabJob, ShownRow, SynthesisReport } from "@/api/model";
import { formatPercent } from "@/lib/format";
import { Facts } from "@/ui/Facts";
import { TextLink } from "@/ui/TextLink";
import { ShownText } from "./ShownText";
import { REASONS } from "./synthesis";

const count = (value: number) => value.toLocaleString("en-GB");
const SHOWN = 10;

interface Props {
  report: SynthesisReport;
  made: LabJob["made"];
}

export function SynthesisFound({ report, made }: Props) {
  const { kept_ones: kept, refused_ones: refused } = report;
  return (
    <>
      <Facts
        facts={[
          ["Variations written", count(report.written)],
          ["Kept", count(report.kept)],
          ["Rejected", count(report.refused)],
          ...report.reasons.map((one): [string, string] => [REASONS[one.reason], count(one.variations)]),
        ]}
      />
      {made ? (
        <TextLink
          size="sm"
          to="/datasets/$datasetId"
          params={{ datasetId: made.dataset_id }}
          search={{ version: made.number }}
        >
          Open {made.ref} with {count(made.rows)} rows
        </TextLink>
      ) : (
        <Text size="sm" c="dimmed">
          {report.kept === 0 ? "Nothing was kept: no version was created." : "The created version was deleted."}
        </Text>
      )}
      {kept.length > 0 && (
        <Listed title="Kept variations" rest={report.kept - Math.min(SHOWN, kept.length)}>
          {kept.slice(0, SHOWN).map((one, place) => (
            <Shown
              key={place}
              row={one.row}
              text={one.text}
              badge={`${formatPercent(one.pass_rate)} correct`}
              detail={one.answer ? `Answer: ${one.answer}` : undefined}
            />
          ))}
        </Listed>
      )}
      {refused.length > 0 && (
        <Listed title="Rejected variations" rest={report.refused - refused.length} folded>
          {refused.map((one, place) => (
            <Shown key={place} row={one.row} text={one.text} badge={REASONS[one.reason]} detail={one.detail} bad />
          ))}
        </Listed>
      )}
    </>
  );
}

interface ListedProps {
  title: string;
  /** Those that are not shown. */
  rest: number;
  /** Whether only the title is in sight at first. */
  folded?: boolean;
  children: ReactNode;
}

function Listed({ title, rest, folded = false, children }: ListedProps) {
  return (
    <section aria-label={title}>
      <details open={!folded}>
        <summary>
          <Title order={3} size="h5" display="inline">
            {title}
          </Title>
        </summary>
        <Stack gap="xs" component="ul" p={0} m={0} mt={6} style={{ listStyle: "none" }}>
          {children}
        </Stack>
        {rest > 0 && (
          <Text size="sm" c="dimmed" mt={4}>
            and {count(rest)} more
          </Text>
        )}
      </details>
    </section>
  );
}

interface ShownProps {
  row: ShownRow;
  text: string;
  badge: string;
  detail?: string;
  bad?: boolean;
}

function Shown({ row, text, badge, detail, bad }: ShownProps) {
  return (
    <Paper withBorder p="xs" component="li">
      <Group gap="xs" mb={4}>
        <Badge variant="light" color={bad ? "red" : "gray"}>
          {badge}
        </Badge>
      </Group>
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        {text}
      </Text>
      {detail && (
        <Text size="xs" c="dimmed" mt={2} style={{ overflowWrap: "anywhere" }}>
          {detail}
        </Text>
      )}
      <Text size="xs" c="dimmed" mt={4}>
        From
      </Text>
      <ShownText row={row} />
    </Paper>
  );
}
