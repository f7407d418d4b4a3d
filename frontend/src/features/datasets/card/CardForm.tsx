/** The form of a dataset card. Changes by others in the meantime are reported, not overwritten. */
import { Autocomplete, Button, Group, NumberInput, Select, Stack, Textarea } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import * as api from "@/api/client";
import type { Dataset } from "@/api/model";
import { fieldError, restError } from "@/api/problems";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";
import { LICENCES } from "./card-text";
import { ownersQuery } from "./queries";

const FIELDS = ["/source", "/licence", "/purpose", "/caveats", "/owner", "/keep_days"];

export function CardForm({ dataset, onDone }: { dataset: Dataset; onDone: () => void }) {
  const [card] = useState(dataset.card); // as it was seen, whatever comes while the form is open
  const { source, licence, purpose, caveats, keep_days } = card;
  const owner = card.owner?.id ?? null;
  const [fields, setFields] = useState({ source, licence, purpose, caveats, owner, keep_days });
  const change = (part: Partial<typeof fields>) => setFields(before => ({ ...before, ...part }));
  const client = useQueryClient();
  const members = useQuery(ownersQuery);
  const save = useSubmit({
    mutationFn: () => api.writeDatasetCard(dataset.id, fields, { "If-Match": `"${card.revision}"` }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["datasets"] });
      onDone();
    },
    onError: () => client.invalidateQueries({ queryKey: ["datasets"] }), // the panel behind shows what it says now
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  const owners = members.data?.data.map(one => ({ value: one.id, label: one.email })) ?? [];
  const fault = (name: string) => fieldError(save.error, `/${name}`);
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Select
          label="Owner"
          description="Who answers questions about the rows."
          data={owners}
          value={fields.owner}
          onChange={owner => change({ owner })}
          placeholder={members.isPending ? "Loading" : "No owner"}
          error={fault("owner")}
          searchable
          clearable
        />
        <Autocomplete
          label="Licence"
          description="An SPDX identifier such as CC-BY-4.0, or free text."
          data={LICENCES}
          value={fields.licence}
          maxLength={120}
          onChange={next => change({ licence: next })}
          error={fault("licence")}
        />
        <Textarea
          label="Source"
          description="Where the rows come from: a URL, a paper, a person."
          value={fields.source}
          maxLength={2000}
          onChange={event => change({ source: event.currentTarget.value })}
          error={fault("source")}
          autosize
          maxRows={6}
        />
        <Textarea
          label="Purpose"
          description="What the rows are for."
          value={fields.purpose}
          maxLength={2000}
          onChange={event => change({ purpose: event.currentTarget.value })}
          error={fault("purpose")}
          autosize
          maxRows={6}
        />
        <Textarea
          label="Caveats"
          description="What users of the data need to know."
          value={fields.caveats}
          maxLength={20_000}
          onChange={event => change({ caveats: event.currentTarget.value })}
          error={fault("caveats")}
          autosize
          minRows={3}
          maxRows={14}
        />
        <NumberInput
          label="Keep replaced versions for"
          description="Then they are deleted, except the newest and any that are in use or were read by a run."
          value={fields.keep_days ?? ""}
          onChange={next => change({ keep_days: typeof next === "number" ? next : null })}
          placeholder="no limit"
          suffix={fields.keep_days === 1 ? " day" : " days"}
          min={1}
          max={3650}
          allowDecimal={false}
          allowNegative={false}
          error={fault("keep_days")}
        />
        {restError(save.error, FIELDS) !== null && <ErrorState error={save.error} />}
        <Group justify="flex-end">
          <Button type="submit" loading={save.isPending}>
            Save card
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
