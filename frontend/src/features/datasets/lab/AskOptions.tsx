/** Choices of operations that ask a model: which one, and about how many rows. */
import { Group, NumberInput, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { fieldError } from "@/api/problems";
import { TextLink } from "@/ui/TextLink";
import { modelOptions } from "./models";
import { endpointsQuery } from "./queries";

/** What the platform takes in one job. */
export const MOST_ROWS = 10_000;

export interface Asking {
  endpoint: string | null;
  /** Empty for all rows. */
  sample: number | string;
}

export const NO_ASKING: Asking = { endpoint: null, sample: "" };

interface ModelProps {
  value: string | null;
  onChange: (value: string | null) => void;
  error: unknown;
}

/** The model that is asked: a judge endpoint of the team. */
export function ModelChoice({ value, onChange, error }: ModelProps) {
  const endpoints = useQuery(endpointsQuery);
  return (
    <>
      <Select
        label="Model"
        description="A judge endpoint of the team"
        placeholder="Choose"
        data={modelOptions(endpoints.data?.data)}
        value={value}
        onChange={onChange}
        error={
          endpoints.isError ? "The judge endpoints could not be loaded." : fieldError(error, "/operation/endpoint")
        }
        nothingFoundMessage="The team has no judge endpoint"
        w={320}
        maw="100%"
      />
      {endpoints.data?.data.length === 0 && (
        <TextLink size="sm" to="/team" search={{ tab: "judges" }} mt={28}>
          Add a judge endpoint
        </TextLink>
      )}
    </>
  );
}

interface Props {
  rows: number;
  value: Asking;
  onChange: (value: Asking) => void;
  /** Why the last request was rejected. */
  error: unknown;
}

/** Pointers of refusals that are at one of these fields. */
export const ASKING_FIELDS = /^\/operation\/(endpoint|sample)$/;

export function AskOptions({ rows, value, onChange, error }: Props) {
  return (
    <Group gap="sm" align="flex-start">
      <ModelChoice value={value.endpoint} onChange={endpoint => onChange({ ...value, endpoint })} error={error} />
      <NumberInput
        label="Rows"
        description="Empty for all; otherwise a random sample"
        placeholder={`all ${rows.toLocaleString("en-GB")}`}
        min={1}
        max={Math.min(rows, MOST_ROWS)}
        allowDecimal={false}
        thousandSeparator=","
        w={240}
        value={value.sample}
        onChange={sample => onChange({ ...value, sample })}
        error={
          value.sample === "" && rows > MOST_ROWS
            ? `At most ${MOST_ROWS.toLocaleString("en-GB")} per job`
            : fieldError(error, "/operation/sample")
        }
      />
    </Group>
  );
}

/** The choices as an operation has them; null if one is missing. */
export function askingOf(
  { endpoint, sample }: Asking,
  rows: number,
): { endpoint: string; sample: number | null } | null {
  if (!endpoint || (sample === "" && rows > MOST_ROWS)) return null;
  return { endpoint, sample: typeof sample === "number" ? sample : null };
}
