/** Fields of a profile next to its policy: the reward, how much is sampled, and how prompts are put. */
import { Group, NumberInput, Select, Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { rewardsQuery } from "@/entities/rewards/queries";
import type { Sampling, SAMPLING_AT } from "./sampling";

interface Props {
  value: Sampling;
  onChange: (value: Sampling) => void;
  fault: (field: keyof typeof SAMPLING_AT) => string | undefined;
}

const AMOUNT = { min: 1, allowDecimal: false, allowNegative: false, clampBehavior: "blur" } as const;

export function SamplingFields({ value, onChange, fault }: Props) {
  const rewards = useQuery(rewardsQuery);
  const change = (part: Partial<Sampling>) => onChange({ ...value, ...part });
  return (
    <>
      <Select
        label="Reward"
        description="Answers count as correct from the threshold of its definition."
        data={(rewards.data?.data ?? []).map(one => ({
          value: one.latest_version.ref,
          label: one.latest_version.ref,
        }))}
        value={value.reward}
        onChange={reward => change({ reward })}
        error={fault("reward") ?? (rewards.error ? "The rewards could not be loaded." : undefined)}
        searchable
        nothingFoundMessage="No reward"
      />
      <Group grow align="flex-start" preventGrowOverflow={false}>
        <NumberInput
          {...AMOUNT}
          label="Samples per row"
          description="On average; at least 4."
          min={4}
          max={64}
          miw={150}
          value={value.each}
          onChange={each => change({ each })}
          error={fault("each")}
        />
        <NumberInput
          {...AMOUNT}
          label="Longest prompt"
          description="Tokens. A longer one stops the profile."
          max={131072}
          miw={150}
          value={value.prompt}
          onChange={prompt => change({ prompt })}
          error={fault("prompt")}
        />
        <NumberInput
          {...AMOUNT}
          label="Longest answer"
          description="Tokens."
          max={32768}
          miw={150}
          value={value.tokens}
          onChange={tokens => change({ tokens })}
          error={fault("tokens")}
        />
      </Group>
      <Switch
        label="Apply the chat template"
        checked={value.chat}
        onChange={event => change({ chat: event.currentTarget.checked })}
      />
    </>
  );
}
