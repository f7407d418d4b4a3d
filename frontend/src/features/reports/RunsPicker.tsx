/** Chooses the runs of a block by name. Deleted runs stay until they are removed. */
import { MultiSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReportContentRunMention } from "@/api/model";
import { mention } from "@/entities/reports/blocks";
import { runsQuery } from "@/entities/runs/queries";
import { MOST_COMPARED } from "@/entities/runs/search";

interface Props {
  runs: ReportContentRunMention[];
  onChange: (next: ReportContentRunMention[]) => void;
}

export function RunsPicker({ runs, onChange }: Props) {
  const listed = useQuery(runsQuery());
  const known = new Map(runs.map(run => [run.id, run]));
  for (const run of listed.data?.data ?? []) known.set(run.id, mention(run));
  const all = [...known.values()];
  return (
    <MultiSelect
      label="Runs"
      size="xs"
      data={all.map(run => ({ value: run.id, label: labelOf(run, all) }))}
      value={runs.map(run => run.id)}
      onChange={ids => onChange(ids.flatMap(id => known.get(id) ?? []))}
      placeholder={listed.isError ? "The runs could not be loaded" : runs.length === 0 ? "Choose runs" : undefined}
      nothingFoundMessage={listed.isPending ? "Loading" : "No matching runs"}
      maxValues={MOST_COMPARED}
      searchable
      limit={50}
    />
  );
}

/** The name, with the end of the id where another has the same. */
function labelOf({ id, name }: ReportContentRunMention, all: ReportContentRunMention[]): string {
  if (!name) return id;
  return all.some(other => other.id !== id && other.name === name) ? `${name} (${id.slice(-4)})` : name;
}
