/** To the bench of a reward, with stored rollouts as samples: chosen groups, or all that fit the filters. */
import { Button, Popover, Radio, Select, Stack, Text } from "@mantine/core";
import { IconFlask } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { errorText } from "@/api/http";
import type { Group, Run } from "@/api/model";
import { rewardsQuery } from "@/entities/rewards/queries";
import { MAX_MATCHED, MAX_PICKED } from "@/features/rewards/samples/samples";
import { getIn } from "@/features/schema-form/pointer";
import { type GroupFilter, groupParams } from "./queries";

interface Props {
  run: Run;
  /** Groups that were chosen: of their samples, those that fit the filters are scored. */
  chosen: Group[];
  filter: GroupFilter;
  /** Whether there is anything to score. */
  some: boolean;
}

export function RescoreButton({ run, chosen, filter, some }: Props) {
  const [opened, setOpened] = useState(false);
  const count = chosen.flatMap(fitting).length;
  return (
    <Popover opened={opened} onChange={setOpened} position="bottom-end" width={340} withinPortal trapFocus shadow="md">
      <Popover.Target>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconFlask size={14} />}
          disabled={!some}
          data-testid="rescore"
          aria-expanded={opened}
          onClick={() => setOpened(!opened)}
        >
          Re-score{count > 0 ? ` ${count}` : ""}…
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Score stored rollouts under another reward">
        <Choice run={run} chosen={chosen} filter={filter} />
      </Popover.Dropdown>
    </Popover>
  );
}

const fitting = (group: Group) => group.samples.filter(sample => sample.matches).map(sample => sample.id);

function Choice({ run, chosen, filter }: Omit<Props, "some">) {
  const navigate = useNavigate();
  const rewards = useQuery(rewardsQuery);
  const [slug = "", number] = String(getIn(run.effective_spec ?? run.spec, ["reward", "definition"]) ?? "").split("@");
  const own = rewards.data?.data.find(one => one.slug === slug);
  const [picked, setPicked] = useState<string | null>(null);
  const [scope, setScope] = useState<"chosen" | "matching">(chosen.length > 0 ? "chosen" : "matching");
  const reward = picked ?? own?.id ?? null;
  const ids = chosen.flatMap(fitting);
  const go = () =>
    reward &&
    void navigate({
      to: "/rewards/$rewardId",
      params: { rewardId: reward },
      search: {
        version: reward === own?.id ? Number(number) : undefined,
        tab: "bench",
        run: run.id,
        ...(scope === "chosen"
          ? { rollouts: ids.slice(0, MAX_PICKED).join(",") }
          : { matching: JSON.stringify(groupParams(filter)) }),
      },
    });
  return (
    <Stack gap="sm">
      <Radio.Group label="Which rollouts" value={scope} onChange={next => setScope(next as typeof scope)}>
        <Stack gap={6} mt={4}>
          <Radio
            value="chosen"
            disabled={ids.length === 0}
            label={ids.length === 0 ? "Selected groups: none" : `Selected groups: ${ids.length} samples`}
            description={ids.length > MAX_PICKED ? `The first ${MAX_PICKED} of them are scored.` : undefined}
          />
          <Radio
            value="matching"
            label="All that match the filters"
            description={`Whole groups, the newest first, at most ${MAX_MATCHED} samples.`}
          />
        </Stack>
      </Radio.Group>
      <Select
        label="Reward"
        description="Choose its version or draft on its bench."
        placeholder="Choose a reward"
        data={(rewards.data?.data ?? []).map(one => ({ value: one.id, label: one.name }))}
        value={reward}
        onChange={setPicked}
        allowDeselect={false}
        searchable
        comboboxProps={{ withinPortal: false }}
        error={rewards.isError ? errorText(rewards.error) : undefined}
      />
      <Text size="xs" c="dimmed">
        The run does not change.
      </Text>
      <Button size="xs" disabled={reward === null} onClick={go} data-testid="rescore-go">
        Open the bench
      </Button>
    </Stack>
  );
}
