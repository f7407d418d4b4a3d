/** The parents of a version, and the operation that created it. */
import { Text } from "@mantine/core";
import type { DatasetVersion } from "@/api/model";
import { TextLink } from "@/ui/TextLink";

const WORDS = {
  edit: "An edit",
  filter: "A filter",
  split: "A split",
  merge: "A merge",
  integers: "Whole-number answers",
  synthesis: "Verified variations",
} as const;

export function VersionLineage({ version }: { version: DatasetVersion }) {
  const { operation, parent } = version;
  if (!operation || operation.name === "upload" || operation.name === "import") return null;
  return (
    <Text size="sm" mt="sm" data-testid="version-lineage">
      {wordsOf(operation)} of{" "}
      {parent && !parent.deleted ? (
        <TextLink
          underline="always"
          to="/datasets/$datasetId"
          params={{ datasetId: parent.dataset_id }}
          search={{ version: parent.number }}
        >
          {parent.ref}
        </TextLink>
      ) : (
        <>{parent ? `${parent.ref}, which was deleted` : "a deleted version"}</>
      )}
      : {countsText(operation.counts)}
    </Text>
  );
}

function wordsOf({ name, arguments: told }: Made): string {
  if (told.review) return "A review";
  if (Array.isArray(told.stages))
    return told.stages.length > 1 ? "Goldilocks in two stages" : "Stage one of Goldilocks";
  return WORDS[name as keyof typeof WORDS];
}

/** What an operation did, as a sentence's end. */
export function countsText({ before, after, added, removed, changed }: Counts): string {
  const parts = (
    [
      ["added", added],
      ["removed", removed],
      ["changed", changed],
    ] as const
  )
    .filter(([, count]) => count > 0)
    .map(([word, count]) => `${count.toLocaleString("en-GB")} ${word}`);
  const rows = `${after.toLocaleString("en-GB")} rows of ${before.toLocaleString("en-GB")}`;
  return `${rows}${parts.length > 0 ? ` (${parts.join(", ")})` : ""}.`;
}

type Made = NonNullable<DatasetVersion["operation"]>;
type Counts = NonNullable<DatasetVersion["operation"]>["counts"];
