/** Scores of a judge: how they are spread, what each criterion has on average, and the lowest rows. */
import { Badge, Group, Paper, Stack, Text, Title } from "@mantine/core";
import type { QualityReport, ScoreBin } from "@/api/model";
import { formatPercent } from "@/lib/format";
import { Facts } from "@/ui/Facts";
import { keptBackText } from "./lab-text";
import { ShareBins } from "./ShareBins";
import { ShownText } from "./ShownText";

const count = (value: number) => value.toLocaleString("en-GB");
const SHOWN = 10;

interface Props {
  report: QualityReport;
  threshold: number;
}

export function QualityScores({ report, threshold }: Props) {
  const { asked, items, lowest } = report;
  const isBelow = (bin: ScoreBin) => bin.least < threshold - 1e-9;
  const below = count(report.histogram.filter(isBelow).reduce((sum, bin) => sum + bin.rows, 0));
  const unscored = report.rows - asked.answered;
  return (
    <>
      <Facts
        facts={[
          ["Rows scored", count(asked.answered)],
          ["Without a score", count(unscored)],
          ["Mean score", formatPercent(report.mean)],
          ...items.map((item): [string, string] => [item.name, formatPercent(item.mean)]),
        ]}
      />
      {unscored > 0 && (
        <Text size="sm" c="dimmed">
          Versions created by score leave out rows without one.
        </Text>
      )}
      <ShareBins
        bins={report.histogram}
        label={`Scores of ${count(asked.answered)} rows; ${below} are below ${formatPercent(threshold)}`}
        note={`${below} below ${formatPercent(threshold)}`}
        isBad={isBelow}
      />
      <section aria-label="Lowest scores">
        <Title order={3} size="h5" mb={4}>
          Lowest scores
        </Title>
        {report.kept_back > 0 && (
          <Text size="sm" c="dimmed" mb={4}>
            {keptBackText(report.kept_back)}
          </Text>
        )}
        <Stack gap="xs" component="ul" p={0} m={0} style={{ listStyle: "none" }}>
          {lowest.slice(0, SHOWN).map(one => (
            <Paper withBorder p="xs" component="li" key={one.row.index}>
              <Group gap="xs" mb={4}>
                <Badge variant="light" color={one.score < threshold ? "red" : "gray"}>
                  {formatPercent(one.score)}
                </Badge>
              </Group>
              <ShownText row={one.row} />
              {one.verdicts.map(verdict => (
                <Text key={verdict.name} size="xs" c="dimmed" mt={2} style={{ overflowWrap: "anywhere" }}>
                  {verdict.name} {formatPercent(verdict.score)}
                  {verdict.reason && `: ${verdict.reason}`}
                </Text>
              ))}
            </Paper>
          ))}
        </Stack>
      </section>
    </>
  );
}
