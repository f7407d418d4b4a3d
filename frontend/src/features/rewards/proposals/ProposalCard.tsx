/** One proposed item next to the two rollouts that it tells apart. */
import { Badge, Button, Group, Paper, Stack, Text, Textarea, TextInput, Title } from "@mantine/core";
import { useState } from "react";
import type { Reward, RubricProposal } from "@/api/model";
import { fieldError, restError } from "@/api/problems";
import { NumberField } from "@/features/schema-form/NumberField";
import { useCan } from "@/features/session/session";
import { formatAgo, formatNumber } from "@/lib/format";
import { ErrorState } from "@/ui/ErrorState";
import { TextLink } from "@/ui/TextLink";
import ui from "@/ui/ui.module.css";
import { Written } from "@/ui/Written";
import classes from "./proposals.module.css";
import { editsOf, type ItemEdit, startEdit } from "./edit";
import { useDecide } from "./useDecide";

export function ProposalCard({ reward, proposal }: { reward: Reward; proposal: RubricProposal }) {
  const editor = useCan("editor");
  const [edit, setEdit] = useState<ItemEdit | null>(null);
  const [note, setNote] = useState("");
  const { accept, retire } = useDecide(reward, proposal);
  const error = restError(accept.error ?? retire.error, edit ? ["/name", "/weight", "/description"] : []);
  const busy = accept.isPending || retire.isPending;
  const pitfall = proposal.weight < 0;
  return (
    <Paper
      p="md"
      component="article"
      aria-label={`Proposal ${proposal.name}`}
      data-testid="proposal"
      data-state={proposal.state}
    >
      <Group justify="space-between" align="flex-start" gap="xs">
        <div style={{ minWidth: 0, flex: "1 1 320px" }}>
          <Group gap="xs">
            <Title order={2} size="h3" style={{ overflowWrap: "anywhere" }}>
              {proposal.name}
            </Title>
            <Badge color={pitfall ? "red" : "green"}>
              {pitfall ? "pitfall" : "weight"} {formatNumber(proposal.weight)}
            </Badge>
            <Badge color="gray">{proposal.component}</Badge>
          </Group>
          <Text size="sm" mt={4} style={{ overflowWrap: "anywhere" }}>
            {proposal.description}
          </Text>
          {proposal.reason && (
            <Text size="xs" c="dimmed" mt={4} style={{ overflowWrap: "anywhere" }}>
              The judge: {proposal.reason}
            </Text>
          )}
        </div>
        <Provenance proposal={proposal} />
      </Group>
      <div className={ui.caption}>Prompt</div>
      <Written label={`Prompt of ${proposal.name}`} className={classes.prompt}>
        {proposal.prompt_text}
      </Written>
      <div className={classes.pair}>
        <Side title="Better" of={proposal.name} reward={proposal.better_reward} text={proposal.better} good />
        <Side title="Worse" of={proposal.name} reward={proposal.worse_reward} text={proposal.worse} />
      </div>
      {edit && (
        <Stack gap={6} mt="sm">
          <Group gap="xs" align="flex-start">
            <TextInput
              flex={1}
              miw={160}
              label="Name"
              value={edit.name}
              onChange={event => setEdit({ ...edit, name: event.currentTarget.value })}
              error={fieldError(accept.error, "/name")}
              maxLength={200}
            />
            <div style={{ width: 90 }}>
              <NumberField
                label="Weight"
                value={edit.weight}
                onChange={weight => setEdit({ ...edit, weight })}
                error={fieldError(accept.error, "/weight") ?? (edit.weight === 0 ? "Must not be 0." : undefined)}
              />
            </div>
          </Group>
          <Textarea
            label="Description"
            autosize
            minRows={2}
            value={edit.description}
            onChange={event => setEdit({ ...edit, description: event.currentTarget.value })}
            error={fieldError(accept.error, "/description")}
            maxLength={4000}
          />
        </Stack>
      )}
      {error !== null && (
        <div style={{ marginTop: 8 }}>
          <ErrorState error={error} />
        </div>
      )}
      {editor && (
        <Group gap="xs" mt="sm">
          <TextInput
            size="xs"
            flex={{ base: "1 1 100%", xs: 1 }}
            placeholder="Reason (saved with the decision)"
            aria-label={`Reason for the decision on ${proposal.name}`}
            value={note}
            maxLength={2000}
            onChange={event => setNote(event.currentTarget.value)}
          />
          {proposal.state !== "accepted" && !edit && (
            <Button size="xs" variant="default" onClick={() => setEdit(startEdit(proposal))} disabled={busy}>
              Edit
            </Button>
          )}
          {edit && (
            <Button size="xs" variant="default" onClick={() => setEdit(null)} disabled={busy}>
              Discard edits
            </Button>
          )}
          {proposal.state !== "retired" && (
            <Button
              size="xs"
              variant="default"
              color="red"
              loading={retire.isPending}
              disabled={busy}
              onClick={() => retire.mutate(note.trim())}
              data-testid="retire-proposal"
            >
              {proposal.state === "accepted" ? "Withdraw" : "Retire"}
            </Button>
          )}
          {proposal.state !== "accepted" && (
            <Button
              size="xs"
              loading={accept.isPending}
              disabled={busy || (edit !== null && (typeof edit.weight !== "number" || edit.weight === 0))}
              onClick={() => accept.mutate({ ...editsOf(proposal, edit), note: note.trim() })}
              data-testid="accept-proposal"
            >
              {edit ? "Accept as edited" : "Accept"}
            </Button>
          )}
        </Group>
      )}
    </Paper>
  );
}

interface SideProps {
  title: string;
  /** The proposal's name. */
  of: string;
  reward: number | null;
  text: string;
  good?: boolean;
}

function Side({ title, of, reward, text, good }: SideProps) {
  return (
    <div className={classes.side} data-good={good || undefined}>
      <div className={ui.caption}>
        {title} <span className="num">reward {formatNumber(reward, 3)}</span>
      </div>
      <Written label={`${title} rollout for ${of}`}>{text}</Written>
    </div>
  );
}

function Provenance({ proposal }: { proposal: RubricProposal }) {
  return (
    <Text
      size="xs"
      c="dimmed"
      ta={{ base: "left", sm: "right" }}
      style={{ flex: "0 1 auto", overflowWrap: "anywhere" }}
    >
      {proposal.run ? (
        <TextLink
          to="/runs/$runId"
          params={{ runId: proposal.run }}
          search={{ tab: "rollouts", step: proposal.step }}
          size="xs"
          underline="always"
        >
          {proposal.run_name ?? proposal.run}, step {proposal.step}
        </TextLink>
      ) : (
        `Deleted run, step ${proposal.step}`
      )}
      <br />
      prompt <span className="mono">{proposal.prompt_id}</span> · scored by{" "}
      <span className="mono">{proposal.reward_version}</span>
      <br />
      {proposal.state === "proposed"
        ? formatAgo(proposal.created_at)
        : `${proposal.state} by ${proposal.decided_by} ${formatAgo(proposal.decided_at)}${proposal.accepted_version ? `, in ${proposal.accepted_version}` : ""}`}
      {proposal.note && (
        <>
          <br />“{proposal.note}”
        </>
      )}
    </Text>
  );
}
