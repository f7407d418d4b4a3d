/** Suspect gold answers of a profile with their votes and people's verdicts. */
import { Button, Group, Stack, Table, Text, Title } from "@mantine/core";
import type { Dataset, Profile } from "@/api/model";
import { useMayEdit } from "@/entities/datasets/read-only";
import { formatCount, formatPercent } from "@/lib/format";
import { ErrorState } from "@/ui/ErrorState";
import { TableFrame } from "@/ui/TableFrame";
import { TextLink } from "@/ui/TextLink";
import { SuspectVerdict } from "./SuspectVerdict";
import { useReview } from "./useReview";

type Report = NonNullable<Profile["report"]>;
type Suspect = Report["suspects"][number];

interface Props {
  profile: Profile;
  report: Report;
  dataset: Dataset;
}

export function Suspects(props: Props) {
  const { report } = props;
  if (!report.reads_answers)
    return (
      <Text size="sm" c="dimmed">
        This reward does not compare answers with the gold answer, so suspects cannot be found.
      </Text>
    );
  if (report.suspects.length === 0)
    return (
      <Text size="sm" c="dimmed">
        No suspects: in no row do enough samples agree on another answer.
      </Text>
    );
  return <Review {...props} />;
}

function Review({ profile, report, dataset }: Props) {
  const editor = useMayEdit();
  const { found, say, make, version, asked } = useReview(profile, dataset);
  const said = new Map(found.data?.verdicts.map(one => [one.row, one]));
  const changes = (found.data?.wrong ?? 0) + (found.data?.leave_out ?? 0);
  return (
    <section aria-label="Suspect gold answers">
      <Title order={3} mb={4}>
        Suspect gold answers
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {formatCount(report.number_of_suspects)} rows whose samples agree on another answer.
        {report.number_of_suspects > report.suspects.length &&
          ` The ${formatCount(report.suspects.length)} most likely are shown.`}
        {editor && " Open a row and give a verdict on its gold answer."}
      </Text>
      {found.error !== null && <ErrorState error={found.error} retry={() => void found.refetch()} />}
      <TableFrame label="Suspect gold answers">
        <Table miw={980} verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              {["Row", "Prompt", "Gold", "Votes", "Gold is wrong", "Verdict"].map(title => (
                <Table.Th key={title}>{title}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {report.suspects.map(one => (
              <Table.Tr key={one.row}>
                <Table.Td className="mono">
                  <TextLink
                    to="/datasets/$datasetId"
                    params={{ datasetId: dataset.id }}
                    search={{ version, tab: "rows", row: one.row }}
                  >
                    {one.id}
                  </TextLink>
                </Table.Td>
                <Table.Td maw={320}>
                  <Text size="sm" lineClamp={3}>
                    {one.prompt}
                  </Text>
                </Table.Td>
                <Table.Td>{one.gold}</Table.Td>
                <Table.Td>
                  <Votes suspect={one} />
                </Table.Td>
                <Table.Td className="num">{formatPercent(one.chance)}</Table.Td>
                <Table.Td miw={270}>
                  <SuspectVerdict
                    key={said.get(one.row)?.at}
                    suspect={one}
                    said={said.get(one.row)}
                    disabled={!editor || found.data === undefined || say.isPending}
                    editor={editor}
                    error={asked === one.row ? say.error : null}
                    onSay={say.mutate}
                  />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </TableFrame>
      {make.error !== null && <ErrorState error={make.error} />}
      {found.data && (
        <Group justify="space-between" mt="sm">
          <Text size="sm" className="num" role="status" data-testid="review-counts">
            {formatCount(found.data.right)} correct, {formatCount(found.data.wrong)} wrong,{" "}
            {formatCount(found.data.leave_out)} to be left out
          </Text>
          {editor && (
            <Button disabled={changes === 0} loading={make.isPending} onClick={() => make.mutate()}>
              Create a version from the verdicts
            </Button>
          )}
        </Group>
      )}
    </section>
  );
}

/** The gold and the answers against it, each with its number of samples. */
function Votes({ suspect }: { suspect: Suspect }) {
  const votes = [{ text: suspect.gold, votes: suspect.correct, gold: true }, ...suspect.answers];
  return (
    <Stack gap={2} title={`Of ${suspect.samples} samples`}>
      {votes.map((one, place) => (
        <Text key={place} size="sm" className="num" c={"gold" in one ? "dimmed" : undefined}>
          {one.text}: {one.votes} of {suspect.samples}
          {"gold" in one && " (gold)"}
        </Text>
      ))}
    </Stack>
  );
}
