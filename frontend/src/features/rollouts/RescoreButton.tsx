import { Button } from "@mantine/core";
import { IconFlask } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Rollout, Run } from "@/api/model";
import { rewardsQuery } from "@/features/rewards/data/queries";
import { MAX_SAMPLES } from "@/features/rewards/samples/samples";
import { getIn } from "@/features/schema-form/pointer";

interface Props {
  run: Run;
  rows: Rollout[];
  /** Ids of chosen rollouts; without any, the first of the list are taken. */
  picked: string[];
}

/** To the bench of the run's reward, with stored rollouts as samples. */
export function RescoreButton({ run, rows, picked }: Props) {
  const navigate = useNavigate();
  const rewards = useQuery(rewardsQuery);
  const ref = String(getIn(run.effective_spec ?? run.spec, ["reward", "definition"]) ?? "");
  const [slug, number] = ref.split("@");
  const reward = rewards.data?.data.find(one => one.slug === slug);
  const ids = picked.length > 0 ? picked : rows.slice(0, MAX_SAMPLES).map(row => row.id);
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
      Re-score {picked.length > 0 ? picked.length : ""} under a draft
    </Button>
  );
}
