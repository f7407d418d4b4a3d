/** A dry run of the current spec: a few prompts sampled and graded before the run is created. */
import { Alert, Anchor, Button, Group, NumberInput, Paper, Stack, Text, Title } from "@mantine/core";
import { IconExternalLink, IconPlayerTrackNext } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import * as api from "@/api/client";
import type { CreateRehearsalRequest, Rehearsal, Spec } from "@/api/model";
import { useCan } from "@/features/session/session";
import { useRequestKey } from "@/lib/useRequestKey";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";
import { Loaded } from "@/ui/Loaded";
import { Placeholder } from "@/ui/Placeholder";
import { Ended, Held } from "./Held";
import { Outcome } from "./Outcome";
import { isOpen, rehearsalQuery } from "./queries";

const NOTE = "rehearse-note";

interface Asked {
  id: string;
  spec: Spec;
}

interface Props {
  spec: Spec;
  ready: boolean;
  /** The cluster by name, null for any, or undefined if `run` decides. */
  where?: Pick<CreateRehearsalRequest, "cluster" | "run">;
}

export function RehearsePanel({ spec, ready, where = {} }: Props) {
  const client = useQueryClient();
  const editor = useCan("editor");
  const keyFor = useRequestKey();
  const [prompts, setPrompts] = useState<number | string>(8);
  const [samples, setSamples] = useState<number | string>(4);
  const [asked, setAsked] = useState<Asked | null>(null);
  /** Counts requests: repeating an equal request starts another dry run. */
  const [tries, setTries] = useState(0);
  const create = useSubmit({
    mutationFn: () => {
      const body = { spec, prompts: Number(prompts), samples: Number(samples), ...where };
      return api.createRehearsal(body, { "Idempotency-Key": keyFor({ body, tries }) });
    },
    onSuccess: made => {
      client.setQueryData(rehearsalQuery(made.id).queryKey, made);
      setAsked({ id: made.id, spec });
      setTries(tries + 1);
    },
  });
  const found = useQuery({ ...rehearsalQuery(asked?.id ?? ""), enabled: asked !== null });
  const busy = create.isPending || (found.data !== undefined && isOpen(found.data));
  return (
    <Paper p="sm" component="section" aria-label="Dry run" data-testid="rehearse">
      <Title order={3} mb={6}>
        Dry run
      </Title>
      <Text size="xs" c="dimmed" mb={8} id={NOTE}>
        {editor
          ? "The cluster samples and grades a few prompts, as the run would. No run is created."
          : "Dry runs need the editor role."}
      </Text>
      <Group gap="xs" grow mb={8}>
        <Amount label="Prompts" value={prompts} onChange={setPrompts} />
        <Amount label="Samples per prompt" value={samples} onChange={setSamples} />
      </Group>
      <Button
        fullWidth
        variant="default"
        leftSection={<IconPlayerTrackNext size={15} />}
        disabled={!ready || !editor || busy || prompts === "" || samples === ""}
        loading={create.isPending}
        onClick={() => create.mutate()}
        aria-describedby={NOTE}
        data-testid="rehearse-start"
      >
        Start dry run
      </Button>
      {create.error !== null && (
        <div style={{ marginTop: 8 }}>
          <ErrorState error={create.error} />
        </div>
      )}
      {asked && (
        <div style={{ marginTop: 12 }}>
          <Loaded query={found} skeleton={<Placeholder height={60} />}>
            {rehearsal => <Found rehearsal={rehearsal} stale={asked.spec !== spec} />}
          </Loaded>
        </div>
      )}
    </Paper>
  );
}

interface AmountProps {
  label: string;
  value: number | string;
  onChange: (value: number | string) => void;
}

function Amount({ label, value, onChange }: AmountProps) {
  return (
    <NumberInput
      label={label}
      size="xs"
      min={1}
      max={32}
      allowDecimal={false}
      clampBehavior="blur"
      value={value}
      onChange={onChange}
    />
  );
}

function Found({ rehearsal, stale }: { rehearsal: Rehearsal; stale: boolean }) {
  return (
    <Stack gap="sm" data-testid="rehearsal" data-state={rehearsal.state}>
      {stale && (
        <Alert color="gray" p="xs">
          <Text size="xs">The spec has changed. Start another dry run to test it.</Text>
        </Alert>
      )}
      {isOpen(rehearsal) && <Held rehearsal={rehearsal} />}
      {(rehearsal.state === "failed" || rehearsal.state === "cancelled") && <Ended rehearsal={rehearsal} />}
      {rehearsal.report && <Outcome rehearsal={rehearsal} report={rehearsal.report} />}
      <Anchor
        href={`/rehearsals/${rehearsal.id}`}
        target="_blank"
        rel="noreferrer"
        size="sm"
        data-testid="rehearsal-link"
        style={{ display: "inline-flex", alignItems: "center", gap: 4 }}
      >
        {rehearsal.report ? "Prompts, samples and grades" : "Page of this dry run"} <IconExternalLink size={13} />
      </Anchor>
    </Stack>
  );
}
