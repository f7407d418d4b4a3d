import { Button } from "@mantine/core";
import { IconFlask } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Group, Run } from "@/api/model";
import { rewardsQuery } from "@/features/rewards/data/queries";
import { MAX_PICKED } from "@/features/rewards/samples/samples";
import { getIn } from "@/features/schema-form/pointer";

interface Props {
  run: Run;
  /** Those that fit the filters; of their samples, those that fit are scored. */
  groups: Group[];
}

/** To the bench of the run's reward, with stored rollouts as samples. */
export function RescoreButton({ run, groups }: Props) {
  const navigate = useNavigate();
  const rewards = useQuery(rewardsQuery);
  const ref = String(getIn(run.effective_spec ?? run.spec, ["reward", "definition"]) ?? "");
  const [slug, number] = ref.split("@");
  const reward = rewards.data?.data.find(one => one.slug === slug);
  const fit = groups.flatMap(group => group.samples.filter(sample => sample.matches).map(sample => sample.id));
  const ids = fit.slice(0, MAX_PICKED);
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<IconFlask size={14} />}
      disabled={!reward || ids.length === 0}
      data-testid="rescore"
      onClick={() =>
        reward &&
        void navigate({
          to: "/rewards/$rewardId",
          params: { rewardId: reward.id },
          search: { version: Number(number), tab: "bench", run: run.id, rollouts: ids.join(",") },
        })
      }
    >
      Re-score {ids.length > 0 ? ids.length : ""} under a draft
    </Button>
  );
}
