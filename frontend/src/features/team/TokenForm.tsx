/** A new token: whose it is, what it may do, and when it ends. */
import {
  Button,
  Group,
  Modal,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  type SelectProps,
} from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import * as api from "@/api/client";
import type { NewToken, Role, TokenOptions } from "@/api/model";
import { fieldError, restError } from "@/api/problems";
import { useSession } from "@/features/session/session";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";
import { serviceAccountsQuery } from "./queries";
import { ROLES } from "./roles";
import { emptyDraft, lives, nouns, tokenBody, type TokenDraft, type Verb } from "./token";

const FIELDS = ["/name", "/role", "/scopes", "/service_account", "/expires_at"];
const MYSELF = "";

interface Props {
  options: TokenOptions;
  onMade: (token: NewToken) => void;
  onClose: () => void;
}

export function TokenForm({ options, onMade, onClose }: Props) {
  const [draft, setDraft] = useState<TokenDraft>(() => emptyDraft(options));
  const accounts = useQuery(serviceAccountsQuery).data?.data ?? [];
  const { user } = useSession();
  const create = useSubmit({ mutationFn: () => api.createToken(tokenBody(draft, Date.now())), onSuccess: onMade });
  const set = (change: Partial<TokenDraft>) => setDraft(previous => ({ ...previous, ...change }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  const owners: SelectProps["data"] = [
    { value: MYSELF, label: `Me, ${user?.email ?? ""}` },
    ...accounts
      .filter(account => account.disabled_at === null)
      .map(account => ({ value: account.id, label: `Service account ${account.name}` })),
  ];
  return (
    <Modal opened onClose={onClose} closeOnClickOutside={false} title="New token" size="lg">
      <Stack component="form" gap="sm" onSubmit={submit} data-testid="token-form">
        <TextInput
          label="What it is for"
          required
          maxLength={120}
          data-autofocus
          value={draft.name}
          onChange={event => set({ name: event.currentTarget.value })}
          error={fieldError(create.error, "/name")}
        />
        <Select
          label="Owner"
          description="Your token expires when you leave the team. A service account’s does not."
          data={owners}
          value={draft.account ?? MYSELF}
          onChange={next => set({ account: next || null })}
          error={fieldError(create.error, "/service_account")}
          allowDeselect={false}
        />
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
          <Select
            label="Role"
            description="Never above its owner's current role."
            data={ROLES.map(({ value, label }) => ({ value, label }))}
            value={draft.role}
            onChange={next => next && set({ role: next as Role })}
            error={fieldError(create.error, "/role")}
            allowDeselect={false}
          />
          <Select
            label="Expires after"
            description={`At most ${options.max_days} days.`}
            data={lives(options).map(days => ({ value: `${days}`, label: days === 1 ? "1 day" : `${days} days` }))}
            value={`${draft.days}`}
            onChange={next => next && set({ days: Number(next) })}
            error={fieldError(create.error, "/expires_at")}
            allowDeselect={false}
          />
        </SimpleGrid>
        <SegmentedControl
          aria-label="Scopes"
          data={[
            { value: "all", label: "Everything the role allows" },
            { value: "limited", label: "Selected scopes only" },
          ]}
          value={draft.limited ? "limited" : "all"}
          onChange={next => set({ limited: next === "limited" })}
        />
        {draft.limited && <Scopes options={options} draft={draft} set={set} />}
        {fieldError(create.error, "/scopes") && (
          <Text size="xs" c="var(--c-bad)" role="alert">
            {fieldError(create.error, "/scopes")}
          </Text>
        )}
        {restError(create.error, FIELDS) !== null && <ErrorState error={create.error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Back
          </Button>
          <Button type="submit" loading={create.isPending}>
            Create token
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

const VERBS: { value: Verb; label: string }[] = [
  { value: "none", label: "Nothing" },
  { value: "read", label: "Read" },
  { value: "write", label: "Write" },
];

interface ScopesProps {
  options: TokenOptions;
  draft: TokenDraft;
  set: (change: Partial<TokenDraft>) => void;
}

function Scopes({ options, draft, set }: ScopesProps) {
  return (
    <Stack gap={6} data-testid="scopes">
      {nouns(options).map(({ noun, read, write }) => {
        const verb = draft.verbs[noun] ?? "none";
        return (
          <Group key={noun} gap="sm" wrap="nowrap" align="center">
            <Text size="sm" w={74}>
              {noun}
            </Text>
            <SegmentedControl
              size="xs"
              aria-label={`Access to ${noun}`}
              data={VERBS}
              value={verb}
              onChange={next => set({ verbs: { ...draft.verbs, [noun]: next as Verb } })}
            />
            <Text size="xs" c="dimmed" flex={1} visibleFrom="xs">
              {verb === "none" ? "" : verb === "read" ? read : `${read}. ${write}`}
            </Text>
          </Group>
        );
      })}
    </Stack>
  );
}
