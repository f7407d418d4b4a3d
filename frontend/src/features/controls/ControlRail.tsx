/** The control rail: everything that can change during a run. */
import { Accordion, Divider, Paper, Skeleton, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Control, Run, Spec, Target } from "@/api/model";
import { samples } from "@/entities/runs/objective";
import { controlsQuery, curriculumQuery, targetsQuery } from "@/entities/runs/queries";
import { isLive, isStill } from "@/entities/runs/states";
import { getIn } from "@/features/schema-form/pointer";
import { useCan } from "@/features/session/session";
import { Loaded } from "@/ui/Loaded";
import { AllFields } from "./AllFields";
import { BatchForecast } from "./BatchForecast";
import { SourceWeights } from "./Curriculum";
import { DifficultyBand } from "./DifficultyBand";
import { DifficultyTarget } from "./DifficultyTarget";
import { Knob } from "./Knob";
import { GUARDS, weightSource } from "./labels";
import { inForce } from "./model";
import { LearningRate } from "./LearningRate";
import { Lifecycle } from "./Lifecycle";
import { DEFINITION, SHADOW } from "./shadow";
import { ShadowRewards } from "./ShadowRewards";
import { ThinkingBudget } from "./ThinkingBudget";

const SKELETON = <Skeleton height={320} />;

export function ControlRail({ run }: { run: Run }) {
  const operator = useCan("operator");
  return (
    <Stack gap="sm" data-testid="control-rail">
      <Paper p="sm">
        <Lifecycle run={run} />
      </Paper>
      {isLive(run.state) && (
        <Paper p="sm">
          <Knobs run={run} enabled={operator} />
        </Paper>
      )}
      {run.state !== "draft" && samples(run) && (
        <Paper p="sm">
          <BatchForecast run={run} />
        </Paper>
      )}
    </Stack>
  );
}

function Knobs({ run, enabled }: { run: Run; enabled: boolean }) {
  const targets = useQuery(targetsQuery(run.id, run.revision));
  const controls = useQuery(controlsQuery(run.id));
  return (
    <Loaded query={targets} skeleton={SKELETON}>
      {targets => (
        <Loaded query={controls} skeleton={SKELETON}>
          {({ data }) => <KnobList run={run} enabled={enabled} targets={targets} controls={data} />}
        </Loaded>
      )}
    </Loaded>
  );
}

interface KnobListProps {
  run: Run;
  enabled: boolean;
  targets: Target[];
  controls: Control[];
}

function KnobList({ run, enabled, targets, controls }: KnobListProps) {
  const all = inForce(targets, run.effective_spec);
  const find = (path: string) => all.find(target => target.path === path);
  const budget = find("thinking.budget");
  const rate = find("optimizer.learning_rate");
  const { data: curriculum, isPending } = useQuery({ ...curriculumQuery(run.id), enabled: samples(run) });
  const stage = `data.stages.${curriculum?.stage}.band`;
  const low = find(`${stage}.min_pass_rate`) ?? find("curriculum.min_pass_rate");
  const high = find(`${stage}.max_pass_rate`) ?? find("curriculum.max_pass_rate");
  const target = find("curriculum.target_pass_rate");
  const reward = find(DEFINITION);
  const shadow = find(SHADOW);
  const weights = all.filter(target => weightSource(target.path) !== null);
  const own = new Set([budget, rate, low, high, target, reward, shadow, ...weights].map(target => target?.path));
  // Guards have a card of their own, with pictures.
  const rest = all.filter(target => !own.has(target.path) && target.path !== GUARDS);
  const longest = Number(find("rollout.max_tokens")?.value ?? maxTokens(run.effective_spec ?? run.spec));
  const common = { run, controls, enabled };
  return (
    <Stack gap="sm">
      {!enabled && (
        <Text size="xs" c="dimmed">
          Steering needs the operator role.
        </Text>
      )}
      {isStill(run.state) && (
        <Text size="xs" c="var(--c-warn)">
          {run.state === "paused" ? "Paused" : "Suspended"}: changes are staged and take effect when the run resumes.
        </Text>
      )}
      {budget && (
        <Knob {...common} targets={[budget]} testId="thinking-budget">
          {state => <ThinkingBudget runId={run.id} path={budget.path} state={state} longest={longest} />}
        </Knob>
      )}
      {budget && <Divider />}
      {weights.length > 0 && !(low && high) && (
        <Knob {...common} targets={weights} testId="source-weights">
          {state => <SourceWeights targets={weights} state={state} />}
        </Knob>
      )}
      {low && high && (
        // One draft for the mixture and the band: what is previewed together takes effect together.
        <Knob {...common} targets={[...weights, low, high]} testId="difficulty">
          {state => (
            <Stack gap="sm">
              {weights.length > 0 && <SourceWeights targets={weights} state={state} />}
              <DifficultyBand
                {...{ low, high, curriculum, state }}
                pending={isPending}
                runId={run.id}
                others={weights}
              />
            </Stack>
          )}
        </Knob>
      )}
      {target && (
        <Knob {...common} targets={[target]} testId="difficulty-target">
          {state => <DifficultyTarget {...{ target, curriculum, state }} />}
        </Knob>
      )}
      <Divider />
      {rate && (
        <Knob {...common} targets={[rate]} testId="learning-rate">
          {state => <LearningRate target={rate} state={state} />}
        </Knob>
      )}
      {reward && shadow && (
        <>
          <Divider />
          <Knob {...common} targets={[reward, shadow]} testId="shadow-rewards">
            {state => <ShadowRewards runId={run.id} definition={reward} shadow={shadow} state={state} />}
          </Knob>
        </>
      )}
      {rest.length > 0 && (
        <Accordion
          variant="default"
          chevronPosition="left"
          styles={{ control: { paddingInline: 0 }, content: { padding: "4px 0 0" }, chevron: { marginInlineEnd: 8 } }}
        >
          <Accordion.Item value="all" style={{ border: 0 }}>
            <Accordion.Control data-testid="all-fields">
              <Text size="sm" fw={550}>
                All steerable fields
              </Text>
            </Accordion.Control>
            <Accordion.Panel>
              <Stack gap="sm">
                <AllFields {...common} targets={rest} />
              </Stack>
            </Accordion.Panel>
          </Accordion.Item>
        </Accordion>
      )}
    </Stack>
  );
}

function maxTokens(spec: Spec | undefined): number {
  return Number(getIn(spec, ["rollout", "max_tokens"]) ?? 256);
}
