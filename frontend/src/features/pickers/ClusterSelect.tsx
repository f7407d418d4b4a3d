/** The cluster of a new run or job. Shown only where there are several: the platform chooses among one by itself. */
import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { clustersQuery } from "@/entities/clusters/queries";
import { choiceText } from "@/entities/clusters/words";

const ANY = "";
const PARENTS = "\u0000";

interface Props {
  /** Undefined: not chosen here; null: any. */
  value: string | null | undefined;
  /** Whether the run is a fork, which goes where its parent was to go unless told otherwise. */
  fork: boolean;
  onChange: (value: string | null | undefined) => void;
  description?: string;
  anyLabel?: string;
}

const FIRST = "Any: the first with a free slot that fits the run";

export function ClusterSelect(props: Props) {
  const { value, fork, onChange, description = "Where the run trains.", anyLabel = FIRST } = props;
  const clusters = useQuery(clustersQuery);
  const rows = clusters.data?.data ?? [];
  if (rows.length < 2) return null;
  const choices = [
    ...(fork ? [{ value: PARENTS, label: "Same as the forked run" }] : []),
    { value: ANY, label: anyLabel },
    ...rows.map(cluster => ({ value: cluster.name, label: choiceText(cluster) })),
  ];
  return (
    <Select
      label="Cluster"
      description={description}
      data={choices}
      value={value === undefined ? (fork ? PARENTS : ANY) : (value ?? ANY)}
      onChange={next => onChange(next === PARENTS ? undefined : next || null)}
      allowDeselect={false}
      mb="md"
      maw={480}
      data-testid="cluster-select"
    />
  );
}
