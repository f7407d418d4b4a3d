/** Choices of a synthesis: who answers the variations, what grades the answers, and which share must be right. */
import { Group, NumberInput, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { fieldError } from "@/api/problems";
import { rewardsQuery } from "@/entities/rewards/queries";
import { modelOptions } from "./models";
import { endpointsQuery } from "./queries";
import type { SynthesisFields } from "./synthesis";
import type { SynthesisFieldsProps } from "./SynthesisOptions";

export function SynthesisGrading({ value, onChange, error }: SynthesisFieldsProps) {
  const endpoints = useQuery(endpointsQuery);
  const rewards = useQuery(rewardsQuery);
  const versions = (rewards.data?.data ?? []).flatMap(({ name, versions }) =>
    [...versions]
      .sort((a, b) => b.number - a.number)
      .map(({ ref, number }) => ({ value: ref, label: `${name}, version ${number}` })),
  );
  const change = (changes: Partial<SynthesisFields>) => onChange({ ...value, ...changes });
  return (
    <Group gap="sm" align="flex-start">
      <Select
        label="Answered by"
        description="The model that verifies them"
        placeholder="the same model"
        clearable
        data={modelOptions(endpoints.data?.data)}
        w={260}
        value={value.solver}
        onChange={solver => change({ solver })}
        error={fieldError(error, "/operation/solver")}
      />
      <Select
        label="Graded by"
        description="A reward without jail, judge or model"
        placeholder="equality with the gold answer"
        clearable
        searchable
        nothingFoundMessage="No such reward"
        data={versions}
        w={300}
        value={value.reward}
        onChange={reward => change({ reward })}
        error={rewards.isError ? "The rewards could not be loaded." : fieldError(error, "/operation/reward")}
      />
      <NumberInput
        label="Answers"
        description="Per variation"
        min={1}
        max={16}
        allowDecimal={false}
        clampBehavior="strict"
        w={140}
        value={value.attempts}
        onChange={attempts => change({ attempts })}
      />
      <NumberInput
        label="Correct from"
        description="Minimum share to keep"
        suffix=" %"
        min={1}
        max={100}
        allowDecimal={false}
        clampBehavior="strict"
        w={150}
        value={value.least}
        onChange={least => change({ least })}
      />
    </Group>
  );
}
