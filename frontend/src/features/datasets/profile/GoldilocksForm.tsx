/** Starts both stages of a Goldilocks job, or the first alone. Their cost is shown first. */
import {
  Alert,
  Button,
  Group,
  Input,
  RangeSlider,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Switch,
  Text,
} from "@mantine/core";
import type { ReactNode } from "react";
import type { Dataset, DatasetVersion } from "@/api/model";
import { fieldError, restError } from "@/api/problems";
import { formatPercent } from "@/lib/format";
import { ErrorState } from "@/ui/ErrorState";
import { ResultTarget } from "@/features/pickers/ResultTarget";
import { PolicySelect } from "./PolicySelect";
import { SamplingFields } from "./SamplingFields";
import { type Band, GOLDILOCKS_AT, type GoldilocksFields, isReady, stageCostText } from "./goldilocks";
import { useGoldilocks } from "./useGoldilocks";

interface Props {
  dataset: Dataset;
  version: DatasetVersion;
  fields: GoldilocksFields;
  onChange: (fields: GoldilocksFields) => void;
  onStarted: () => void;
}

export function GoldilocksForm({ dataset, version, fields, onChange, onStarted }: Props) {
  const { cost, start } = useGoldilocks(dataset, version, fields, onStarted);
  const change = (part: Partial<GoldilocksFields>) => {
    onChange({ ...fields, ...part });
    cost.reset();
    start.reset();
  };
  const refused = cost.error ?? start.error;
  const error = restError(refused, Object.values(GOLDILOCKS_AT).flat());
  const fault = (field: keyof typeof GOLDILOCKS_AT) =>
    GOLDILOCKS_AT[field].map(pointer => fieldError(refused, pointer)).find(found => found !== undefined);
  return (
    <Stack gap="sm" mb="md">
      <SegmentedControl
        aria-label="Stages"
        data={[
          { value: "both", label: "Both stages" },
          { value: "first", label: "Stage one only" },
        ]}
        value={fields.both ? "both" : "first"}
        onChange={next => change({ both: next === "both" })}
        style={{ alignSelf: "flex-start" }}
      />
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
        <Stage title="Stage one">
          <PolicySelect
            label="First policy"
            description="Tries every row. A weak one is enough."
            value={fields.first}
            onChange={first => change({ first })}
            error={fault("first")}
          />
          <BandField
            label="Band of stage one"
            value={fields.firstBand}
            onChange={firstBand => change({ firstBand })}
            error={fault("firstBand")}
          />
        </Stage>
        {fields.both ? (
          <Stage title="Stage two">
            <PolicySelect
              label="Second policy"
              description="A stronger one, trained on the rows kept by stage one."
              value={fields.second}
              onChange={second => change({ second })}
              error={fault("second")}
            />
            <BandField
              label="Band of stage two"
              value={fields.secondBand}
              onChange={secondBand => change({ secondBand })}
              error={fault("secondBand")}
            />
          </Stage>
        ) : (
          <Text size="sm" c="dimmed">
            You get a version of the rows inside the band to train the second policy on. Stage two is then offered here
            and reuses the measurements of stage one.
          </Text>
        )}
      </SimpleGrid>
      <SamplingFields value={fields.sampling} onChange={sampling => change({ sampling })} fault={fault} />
      {fields.both && (
        <Switch
          label="Include rows outside the first band if they are inside the second"
          checked={fields.mayReturn}
          onChange={event => change({ mayReturn: event.currentTarget.checked })}
        />
      )}
      <Switch
        label="Leave out rows with a suspect gold answer"
        description="Those confirmed by a person stay."
        checked={fields.leaveOutSuspects}
        onChange={event => change({ leaveOutSuspects: event.currentTarget.checked })}
      />
      <Switch
        label="Reuse stored profiles with the same sampling"
        checked={fields.reuse}
        onChange={event => change({ reuse: event.currentTarget.checked })}
      />
      <ResultTarget
        dataset={dataset}
        description="The kept rows"
        into={fields.into}
        offered={`${dataset.name} in the band`}
        onChange={into => change({ into })}
        error={fault("into")}
      />
      {error !== null && <ErrorState error={error} />}
      {cost.data && (
        <Alert color="petrol" role="status" data-testid="goldilocks-cost">
          <Stack gap={4}>
            {cost.data.cost.stages.map(stage => (
              <Text key={stage.stage} size="sm">
                {stageCostText(stage)}
              </Text>
            ))}
          </Stack>
        </Alert>
      )}
      {cost.data?.cost.warnings.map(warning => (
        <Alert key={warning} color="yellow">
          {warning}
        </Alert>
      ))}
      <Group>
        <Button variant="default" disabled={!isReady(fields)} loading={cost.isPending} onClick={() => cost.mutate()}>
          Estimate cost
        </Button>
        <Button disabled={!cost.data} loading={start.isPending} onClick={() => start.mutate()}>
          {fields.both ? "Start both stages" : "Start stage one"}
        </Button>
      </Group>
    </Stack>
  );
}

function Stage({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack gap="sm" role="group" aria-label={title}>
      {children}
    </Stack>
  );
}

interface BandProps {
  label: string;
  value: Band;
  onChange: (value: Band) => void;
  error: string | undefined;
}

function BandField({ label, value, onChange, error }: BandProps) {
  return (
    <Input.Wrapper
      label={label}
      description={`Keeps pass rates from ${formatPercent(value[0])} to ${formatPercent(value[1])}.`}
      labelElement="div"
      error={error}
    >
      <RangeSlider
        min={0}
        max={1}
        step={0.05}
        minRange={0.05}
        value={value}
        onChange={onChange}
        label={rate => formatPercent(rate)}
        thumbFromLabel={`${label}: lower edge`}
        thumbToLabel={`${label}: upper edge`}
        mt={6}
      />
    </Input.Wrapper>
  );
}
