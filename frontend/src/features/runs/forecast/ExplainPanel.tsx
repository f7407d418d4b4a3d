/** The effective batch, the weight of a token in the loss, and every method with its source. */
import { Accordion, Alert, Code, Paper, Table, Text, Title } from "@mantine/core";
import type { Explanation } from "@/api/model";
import type { Objective } from "@/entities/runs/objective";
import { formatCount, formatValue } from "@/lib/format";
import { BandPicture } from "./BandPicture";

interface Props {
  explanation: Explanation | null | undefined;
  objective?: Objective;
}

/** What a step is made of, by objective. */
const UNITS: Record<Objective, string> = { rl: "Prompts", sft: "Examples", preference: "Pairs" };

export function ExplainPanel({ explanation, objective = "rl" }: Props) {
  return (
    <Paper p="sm" component="section" aria-label="Effective batch and methods" data-testid="explain">
      <Title order={3} mb={6}>
        Effective batch and methods
      </Title>
      {explanation ? (
        <Contents explanation={explanation} objective={objective} />
      ) : (
        <Text size="xs" c="dimmed">
          Available once the spec is valid.
        </Text>
      )}
    </Paper>
  );
}

function Contents({ explanation, objective }: { explanation: Explanation; objective: Objective }) {
  const { batch, bands, methods, remarks } = explanation;
  const sampled = objective === "rl";
  const step = [batch.prompts_per_step, ...(sampled ? [batch.samples_per_step] : []), batch.tokens_per_step];
  const update = [batch.prompts_per_update, ...(sampled ? [batch.samples_per_update] : []), batch.tokens_per_update];
  const rows: [string, ...number[]][] = [
    ["per step", ...step],
    ["per update", ...update],
  ];
  const learned = sampled
    ? `${formatCount(batch.samples)} samples`
    : `${formatCount(batch.prompts_per_step * batch.steps)} ${UNITS[objective].toLowerCase()}`;
  return (
    <>
      <Table fz="xs" verticalSpacing={3} horizontalSpacing={4} aria-label="Effective batch" className="num">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Batch</Table.Th>
            <Table.Th ta="right">{UNITS[objective]}</Table.Th>
            {sampled && <Table.Th ta="right">Samples</Table.Th>}
            <Table.Th ta="right">Tokens ≤</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(([label, ...counts]) => (
            <Table.Tr key={label}>
              <Table.Td>{label}</Table.Td>
              {counts.map((count, index) => (
                <Table.Td key={index} ta="right">
                  {formatCount(count)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Text size="xs" c="dimmed" mt={4}>
        {formatCount(batch.updates)} updates on {learned} in {formatCount(batch.steps)} steps
        {batch.epochs > 1 && `, ${batch.epochs} passes over each batch`}.
      </Text>
      {remarks.map(remark => (
        <Alert key={remark} color="yellow" variant="light" p="xs" mt={6}>
          <Text size="xs">{remark}</Text>
        </Alert>
      ))}
      {bands.map(band => (
        <div key={band.path} style={{ marginTop: 10 }}>
          <Text size="xs" fw={550}>
            Weight of a token, {band.path}
          </Text>
          <BandPicture band={band} />
        </div>
      ))}
      <Accordion
        variant="default"
        chevronSize={14}
        mt="xs"
        styles={{ control: { padding: "6px 0" }, label: { padding: 0 } }}
      >
        {methods.map(method => (
          <Accordion.Item key={method.path} value={method.path}>
            <Accordion.Control>
              <Text size="xs" fw={550}>
                {method.title}{" "}
                <Text component="span" size="xs" c="dimmed" className="mono">
                  {method.path}
                </Text>
              </Text>
            </Accordion.Control>
            <Accordion.Panel>
              <Code block fz="xs" style={{ whiteSpace: "pre-wrap" }}>
                {method.formula}
              </Code>
              {Object.entries(method.parameters).map(([name, value]) => (
                <Text key={name} size="xs" mt={2}>
                  <span className="mono">{name}</span> = {formatValue(value)}
                </Text>
              ))}
              <Text size="xs" mt={4}>
                {method.when}
              </Text>
              <Text size="xs" c="dimmed" mt={4}>
                {method.source}
              </Text>
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
    </>
  );
}
