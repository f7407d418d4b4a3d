/** The difficulty band, set on a histogram of the prompts' pass rates, or on a slider if these are unknown. */
import { Group, Skeleton, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import * as api from "@/api/client";
import type { Curriculum, Target } from "@/api/model";
import { formatPercent } from "@/lib/format";
import type { Band } from "./band";
import { BandFigures } from "./BandFigures";
import { BandHistogram } from "./BandHistogram";
import { BandSlider } from "./Curriculum";
import type { KnobState } from "./Knob";

interface Props {
  runId: string;
  low: Target;
  high: Target;
  /** Other targets of the same draft, which the preview counts in. */
  others: Target[];
  curriculum: Curriculum | undefined;
  /** Whether it is still loading, so that no slider appears before the histogram. */
  pending: boolean;
  state: KnobState;
}

export function DifficultyBand({ runId, low, high, others, curriculum, pending, state }: Props) {
  const band = { low: Number(state.value(low.path)), high: Number(state.value(high.path)) };
  const set = (next: Band) => {
    if (next.low !== band.low) state.set(low.path, next.low);
    if (next.high !== band.high) state.set(high.path, next.high);
  };
  const rates = curriculum?.pass_rates;
  return (
    <div>
      <Group justify="space-between" mb={4}>
        <Text size="sm" fw={550}>
          Difficulty band
        </Text>
        <Text size="xs" c="dimmed" className="num">
          pass rate {formatPercent(band.low)} to {formatPercent(band.high)}
        </Text>
      </Group>
      {rates ? (
        <Drafted {...{ runId, band, state, rates }} targets={[low, high, ...others]} onChange={set} />
      ) : pending ? (
        <Skeleton height={220} data-testid="band-pending" />
      ) : (
        <>
          <BandSlider band={band} disabled={state.disabled} onChange={set} />
          <Text size="xs" c="dimmed" mt={4} mih={18} role="status">
            {curriculum?.why}
          </Text>
        </>
      )}
    </div>
  );
}

interface DraftedProps {
  runId: string;
  band: Band;
  targets: Target[];
  rates: NonNullable<Curriculum["pass_rates"]>;
  state: KnobState;
  onChange: (band: Band) => void;
}

function Drafted({ runId, band, targets, rates, state, onChange }: DraftedProps) {
  const draft = targets.map(({ path }) => ({ target: path, value: state.value(path) }));
  const [text] = useDebouncedValue(JSON.stringify(draft), 120);
  const preview = useQuery({
    queryKey: ["run", runId, "curriculum", "preview", text],
    queryFn: ({ signal }) => api.previewCurriculum(runId, { changes: JSON.parse(text) as typeof draft }, { signal }),
    placeholderData: keepPreviousData,
    retry: false,
  });
  return (
    <>
      <BandHistogram
        sources={rates.sources}
        batch={preview.data?.draft}
        band={band}
        target={null}
        disabled={state.disabled}
        onChange={onChange}
      />
      <BandFigures sources={rates.sources} query={preview} />
    </>
  );
}
