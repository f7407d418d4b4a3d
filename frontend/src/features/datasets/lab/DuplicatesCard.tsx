/** Duplicates: what to compare, and what was found. */
import { Alert, Badge, Group, Paper, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { DuplicateCluster, DuplicatesReport } from "@/api/model";
import { formatPercent } from "@/lib/format";
import { Facts } from "@/ui/Facts";
import { Nothing } from "@/ui/Nothing";
import { TextLink } from "@/ui/TextLink";
import { type CardProps, LabCard } from "./LabCard";
import { type Likeness, LikenessOptions, shareOf } from "./LikenessOptions";
import { ShownText } from "./ShownText";

export function DuplicatesCard({ dataset, version, jobs }: CardProps) {
  const [likeness, setLikeness] = useState<Likeness>({ from: 80, sameNumbers: true });
  const threshold = shareOf(likeness);
  return (
    <LabCard
      {...{ dataset, version, jobs }}
      title="Duplicates"
      description="Rows that are equal, ignoring case, spaces and punctuation, or nearly equal. Each near pair is verified shingle by shingle."
      operation={threshold === null ? null : { kind: "duplicates", threshold, same_figures: likeness.sameNumbers }}
      options={
        <LikenessOptions
          label="Similarity from"
          description="Percent of shared three-word sequences"
          value={likeness}
          onChange={setLikeness}
        />
      }
      startLabel="Find duplicates"
      never="Not checked for duplicates yet."
      made={({ duplicates }) =>
        duplicates && {
          label: "Create a version with one of each",
          condition: { column: "keep", equals: true },
          disabled: duplicates.kept === duplicates.rows || duplicates.kept === 0,
        }
      }
    >
      {({ duplicates }) =>
        duplicates && (
          <>
            <Clusters report={duplicates} />
            {duplicates.clusters > 0 && (
              <TextLink
                size="sm"
                to="/datasets/$datasetId"
                params={{ datasetId: dataset.id }}
                search={{ version: version.number, tab: "rows", notes: "duplicates.size:2.." }}
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

export function Clusters({ report }: { report: DuplicatesReport }) {
  const count = (value: number) => value.toLocaleString("en-GB");
  if (report.clusters === 0) return <Nothing>All {count(report.rows)} rows are different.</Nothing>;
  return (
    <>
      <Facts
        facts={[
          ["Rows", count(report.rows)],
          ["Remaining with one of each", count(report.kept)],
          ["Equal to another", count(report.equal_rows)],
          ["Similar to another", count(report.near_rows)],
          ["Clusters", count(report.clusters)],
          ["With different answers", count(report.conflicts)],
        ]}
      />
      {report.conflicts > 0 && (
        <Alert color="yellow" role="status">
          {report.conflicts === 1 ? "One cluster has" : `${count(report.conflicts)} clusters have`} different gold
          answers to the same question: check them first.
        </Alert>
      )}
      <Stack gap="xs" component="ul" p={0} m={0} style={{ listStyle: "none" }} aria-label="Largest clusters">
        {report.largest.map(cluster => (
          <Cluster key={cluster.cluster} cluster={cluster} />
        ))}
      </Stack>
    </>
  );
}

function Cluster({ cluster }: { cluster: DuplicateCluster }) {
  return (
    <Paper withBorder p="xs" component="li">
      <Group gap="xs" mb={4}>
        <Badge variant="light" color={cluster.kind === "equal" ? "petrol" : "gray"}>
          {cluster.kind === "equal" ? "equal" : `${formatPercent(cluster.similarity)} similar`}
        </Badge>
        <Text size="sm">{cluster.size.toLocaleString("en-GB")} rows</Text>
        {cluster.answers_differ && (
          <Badge color="yellow" variant="light">
            answers differ
          </Badge>
        )}
      </Group>
      {cluster.rows.map(row => (
        <ShownText key={`${row.ref} ${row.index}`} row={row} />
      ))}
    </Paper>
  );
}
