/** Statistics: how the rows are spread over lengths, languages, scripts and kinds of answers. */
import { Group, Progress, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import type { StatisticsReport } from "@/api/model";
import { formatPercent } from "@/lib/format";
import { type CardProps, LabCard } from "./LabCard";

const OPERATION = { kind: "statistics" } as const;

export function StatisticsCard(props: CardProps) {
  return (
    <LabCard
      {...props}
      title="Statistics"
      description="Length, language and script of each question, and the kind of its gold answer."
      operation={OPERATION}
      startLabel="Compute statistics"
      never="Not computed yet."
    >
      {({ statistics }) => statistics && <Spread report={statistics} />}
    </LabCard>
  );
}

export function Spread({ report }: { report: StatisticsReport }) {
  const range = ({ least, most }: { least: number; most: number }) =>
    least === most ? least.toLocaleString("en-GB") : `${least.toLocaleString("en-GB")}–${most.toLocaleString("en-GB")}`;
  const bins = (of: StatisticsReport["words"]) => of.map(bin => ({ name: range(bin), rows: bin.rows }));
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
      <Bars title="Words" total={report.rows} bars={bins(report.words)} />
      <Bars title="Characters" total={report.rows} bars={bins(report.characters)} />
      <Bars title="Answer type" total={report.rows} bars={report.answer_types} />
      <Bars title="Language" total={report.rows} bars={report.languages} />
      <Bars title="Script" total={report.rows} bars={report.scripts} />
    </SimpleGrid>
  );
}

function Bars({ title, total, bars }: { title: string; total: number; bars: { name: string; rows: number }[] }) {
  const most = Math.max(1, ...bars.map(bar => bar.rows));
  return (
    <section aria-label={title}>
      <Title order={3} size="h5" mb={4}>
        {title}
      </Title>
      <Stack gap={3} component="ul" p={0} m={0} style={{ listStyle: "none" }}>
        {bars.map(({ name, rows }) => (
          <Group key={name} component="li" gap="xs" wrap="nowrap">
            <Text size="xs" className="num" w={110} ta="right" style={{ flexShrink: 0 }}>
              {name}
            </Text>
            <Progress value={(rows / most) * 100} style={{ flex: 1 }} aria-hidden="true" />
            <Text size="xs" c="dimmed" className="num" w={92} style={{ flexShrink: 0 }}>
              {rows.toLocaleString("en-GB")} · {formatPercent(rows / Math.max(1, total))}
            </Text>
          </Group>
        ))}
      </Stack>
    </section>
  );
}
