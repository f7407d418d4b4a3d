import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { policiesQuery } from "@/entities/policies/queries";

interface Props {
  label: string;
  description: string;
  value: string | null;
  onChange: (value: string | null) => void;
  error: string | undefined;
}

/** One of the team's policies. */
export function PolicySelect(props: Props) {
  const policies = useQuery(policiesQuery);
  return (
    <Select
      {...props}
      data={(policies.data?.data ?? []).map(one => ({ value: one.slug, label: one.name }))}
      error={props.error ?? (policies.error ? "The policies could not be read." : undefined)}
      searchable
      nothingFoundMessage="No policy"
    />
  );
}
