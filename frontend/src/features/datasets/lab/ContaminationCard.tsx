/** Contamination: evaluation sets to compare with, and the rows that they have. */
import { Alert, Badge, Checkbox, Group, MultiSelect, NumberInput, Paper, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ContaminatedRow, ContaminationReport } from "@/api/model";
import { datasetsQuery } from "@/entities/datasets/queries";
import { formatPercent } from "@/lib/format";
import { Facts } from "@/ui/Facts";
import { Nothing } from "@/ui/Nothing";
import { TextLink } from "@/ui/TextLink";
import { type CardProps, LabCard } from "./LabCard";
import { ShownText } from "./ShownText";

const MOST_SETS = 10;
const count = (value: number) => value.toLocaleString("en-GB");

export function ContaminationCard({ dataset, version, jobs }: CardProps) {
  const [against, setAgainst] = useState<string[]>([]);
  const [run, setRun] = useState<number | string>(13);
  const [threshold, setThreshold] = useState<number | string>(50);
  const [sameFigures, setSameFigures] = useState(true);
  const isSet =
    typeof run === "number" && run >= 5 && typeof threshold === "number" && threshold >= 1 && against.length > 0;
  return (
    <LabCard
      {...{ dataset, version, jobs }}
      title="Contamination"
      description="Rows that also occur in evaluation sets: equal, nearly equal, or overlapping. Word sequences common to many rows, such as instructions, do not count."
      operation={
        isSet ? { kind: "contamination", against, run, threshold: threshold / 100, same_figures: sameFigures } : null
      }
      options={
        <>
          <EvaluationSets own={version.ref} value={against} onChange={setAgainst} />
          <Group gap="sm" align="flex-end">
            <NumberInput
              label="N-gram length, words"
              description="GPT-3 used 13, Llama 3 used 8"
              min={5}
              max={50}
              allowDecimal={false}
              w={220}
              value={run}
              onChange={setRun}
            />
            <NumberInput
              label="Contaminated from"
              description="Share of the shorter text’s n-grams"
              suffix=" %"
              min={1}
              max={100}
              allowDecimal={false}
              w={220}
              value={threshold}
              onChange={setThreshold}
            />
          </Group>
          <Checkbox
            label="Treat different numbers as different questions"
            checked={sameFigures}
            onChange={event => setSameFigures(event.currentTarget.checked)}
          />
        </>
      }
      startLabel="Find contamination"
      never="Not compared with an evaluation set yet."
      made={({ contamination }) =>
        contamination && {
          label: "Create a version without them",
          condition: { column: "clean", equals: true },
          disabled: contamination.clean === contamination.rows || contamination.clean === 0,
        }
      }
    >
      {({ contamination }) =>
        contamination && (
          <>
            <Report report={contamination} />
            {contamination.clean < contamination.rows && (
              <TextLink
                size="sm"
                to="/datasets/$datasetId"
                params={{ datasetId: dataset.id }}
                search={{ version: version.number, tab: "rows", notes: "contamination.clean:false" }}
              >
                Show rows
              </TextLink>
            )}
          </>
        )
      }
    </LabCard>
  );
}

interface EvaluationSetsProps {
  own: string;
  value: string[];
  onChange: (refs: string[]) => void;
}

function EvaluationSets({ own, value, onChange }: EvaluationSetsProps) {
  const datasets = useQuery(datasetsQuery);
  const refs = (datasets.data?.data ?? []).flatMap(dataset =>
    dataset.versions.filter(one => !one.deleted_at && one.ref !== own).map(one => one.ref),
  );
  return (
    <MultiSelect
      label="Evaluation sets"
      description="Versions that runs must not train on, such as evaluation data"
      placeholder={value.length === 0 ? "slug@version" : undefined}
      data={refs}
      value={value}
      onChange={onChange}
      maxValues={MOST_SETS}
      error={datasets.isError && "The datasets could not be loaded."}
      nothingFoundMessage={datasets.isPending ? "Loading" : "No other version found"}
      searchable
      clearable
      w="100%"
      maw={460}
    />
  );
}

export function Report({ report }: { report: ContaminationReport }) {
  const { sets, largest } = report;
  const found = report.rows - report.clean;
  return (
    <>
      <Facts
        facts={[
          ["Rows", count(report.rows)],
          ["Remaining", count(report.clean)],
          ["Equal", count(report.equal_rows)],
          ["Nearly equal", count(report.near_rows)],
          ["Overlapping", count(report.part_rows)],
          ["Same words, other numbers", count(report.other_numbers)],
          ["Common n-grams ignored", count(report.common_runs)],
        ]}
      />
      {found === 0 ? (
        <Nothing>None of these rows occurs in {sets.map(one => one.ref).join(", ")}.</Nothing>
      ) : (
        <Alert color="yellow" role="status">
          {sets
            .filter(one => one.found > 0)
            .map(one => `${count(one.found)} of the ${count(one.rows)} rows of ${one.ref}`)
            .join(", ")}{" "}
          are in this training data: results on them say little.
        </Alert>
      )}
      {largest.length > 0 && (
        <Stack gap="xs" component="ul" p={0} m={0} style={{ listStyle: "none" }} aria-label="Contaminated rows">
          {largest.map(one => (
            <Contaminated key={one.row.index} found={one} />
          ))}
        </Stack>
      )}
    </>
  );
}

function Contaminated({ found }: { found: ContaminatedRow }) {
  const { match, share, longest, row, met } = found;
  return (
    <Paper withBorder p="xs" component="li">
      <Group gap="xs" mb={4}>
        <Badge variant="light" color={match === "equal" ? "petrol" : "gray"}>
          {match === "equal" ? "equal" : `${formatPercent(share)} ${match === "near" ? "similar" : "shared"}`}
        </Badge>
        {longest > 0 && <Text size="sm">{count(longest)} consecutive words</Text>}
      </Group>
      <ShownText row={row} />
      <ShownText row={met} />
    </Paper>
  );
}
