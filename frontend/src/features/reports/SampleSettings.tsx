/** Takes a sample over by the address that its group's drawer has on the page of a run. */
import { Button, Group, Textarea, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ReportBlock } from "@/api/model";
import type { BlockOf } from "@/entities/reports/blocks";
import { siblingsQuery } from "@/features/rollouts/queries";
import { runQuery } from "@/entities/runs/queries";
import { useSubmit } from "@/lib/useSubmit";
import { errorText } from "@/api/http";
import { sampleOf, shortened } from "./sample";
import classes from "./reports.module.css";

interface Props {
  block: BlockOf<"sample">;
  onChange: (next: ReportBlock) => void;
}

export function SampleSettings({ block, onChange }: Props) {
  const client = useQueryClient();
  const [address, setAddress] = useState("");
  const take = useSubmit({
    mutationFn: async () => {
      const named = sampleOf(address);
      if (!named)
        throw new Error("This is not the address of a sample: open a group on a run’s page and copy it there.");
      const run = await client.fetchQuery(runQuery(named.run));
      const list = await client.fetchQuery(siblingsQuery(named.run, named.group));
      const newest = Math.max(...list.data.map(row => row.step));
      const row = list.data.find(one => one.step === newest && one.sample === named.sample);
      if (!row) throw new Error("This sample is no longer stored.");
      return { run, row };
    },
    onSuccess: ({ run, row }) => {
      setAddress("");
      onChange({
        ...block,
        run: { id: run.id, name: run.name },
        step: row.step,
        group: row.group_id,
        number: row.sample,
        prompt: shortened(row.prompt),
        completion: shortened(row.completion),
        reward: row.reward,
      });
    },
  });
  return (
    <div className={classes.wide}>
      <Group gap="xs" align="flex-start">
        <TextInput
          size="xs"
          style={{ flex: "1 1 260px" }}
          label="Sample address"
          description="Open a group among a run’s rollouts, choose the sample, and copy the address of the page."
          placeholder="/runs/…?tab=rollouts&group=…"
          value={address}
          error={take.error && errorText(take.error)}
          onChange={event => setAddress(event.currentTarget.value)}
        />
        <Button size="xs" mt={42} disabled={!address.trim()} loading={take.isPending} onClick={() => take.mutate()}>
          Use sample
        </Button>
      </Group>
      <Textarea
        mt={8}
        size="xs"
        label="Caption"
        value={block.note ?? ""}
        maxLength={1000}
        autosize
        maxRows={6}
        onChange={event => onChange({ ...block, note: event.currentTarget.value })}
      />
    </div>
  );
}
