/** A judge's address, its key, and how hard it may be asked. */
import {
  Alert,
  Button,
  Checkbox,
  Group,
  Modal,
  NumberInput,
  PasswordInput,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  TextInput,
} from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import * as api from "@/api/client";
import type { JudgeEndpoint } from "@/api/model";
import { fieldError, restError } from "@/api/problems";
import { policiesQuery } from "@/entities/policies/queries";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";
import { judgeBody, judgeDraft, type JudgeDraft, keyIsExposed } from "./judge";

const NUMBERS = ["max_in_flight", "timeout_s", "retries", "price_prompt", "price_completion"] as const;
const COMMON = ["/name", "/slug", "/model", ...NUMBERS.map(name => `/${name}`)];
/** Pointers of the fields shown. */
const FIELDS = { address: [...COMMON, "/base_url", "/api_key"], policy: [...COMMON, "/policy"] };

export function JudgeForm({ judge, onClose }: { judge: JudgeEndpoint | null; onClose: () => void }) {
  const [draft, setDraft] = useState<JudgeDraft>(() => judgeDraft(judge));
  const policies = useQuery(policiesQuery).data?.data ?? [];
  const client = useQueryClient();
  const save = useSubmit({
    mutationFn: () => {
      const body = judgeBody(draft);
      return judge
        ? api.updateJudgeEndpoint(judge.id, body)
        : api.createJudgeEndpoint({ ...body, slug: draft.slug.trim() || null });
    },
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ["judges"] });
      onClose();
    },
  });
  const set = (change: Partial<JudgeDraft>) => setDraft(previous => ({ ...previous, ...change }));
  const text = (field: "name" | "slug" | "base_url" | "model") => ({
    value: draft[field],
    onChange: (event: { currentTarget: { value: string } }) => set({ [field]: event.currentTarget.value }),
    error: fieldError(save.error, `/${field}`),
  });
  const number = (field: (typeof NUMBERS)[number]) => ({
    value: draft[field],
    onChange: (value: number | string) => set({ [field]: typeof value === "number" ? value : "" }),
    error: fieldError(save.error, `/${field}`),
    min: 0,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      closeOnClickOutside={false}
      title={judge ? `Edit ${judge.name}` : "New judge"}
      size="lg"
    >
      <Stack component="form" gap="sm" onSubmit={submit} data-testid="judge-form">
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
          <TextInput label="Name" required maxLength={120} data-autofocus {...text("name")} />
          <TextInput
            label="Slug"
            description={
              judge
                ? "Definitions refer to it, so it cannot change."
                : "How definitions refer to it. Derived from the name if empty."
            }
            placeholder="default"
            inputWrapperOrder={["label", "input", "error", "description"]}
            disabled={judge !== null}
            {...text("slug")}
          />
        </SimpleGrid>
        <SegmentedControl
          aria-label="Type of judge"
          data={[
            { value: "address", label: "OpenAI-compatible endpoint" },
            { value: "policy", label: "A policy, served by the cluster" },
          ]}
          value={draft.kind}
          onChange={kind => set({ kind: kind as JudgeDraft["kind"] })}
        />
        {draft.kind === "address" ? (
          <TextInput label="Address" placeholder="https://host/v1" required {...text("base_url")} />
        ) : (
          <Select
            label="Policy"
            placeholder="Choose a policy"
            data={policies.map(policy => ({ value: policy.slug, label: `${policy.slug} · ${policy.name}` }))}
            value={draft.policy || null}
            onChange={policy => set({ policy: policy ?? "" })}
            error={fieldError(save.error, "/policy")}
            searchable
            required
          />
        )}
        <TextInput
          label="Model"
          description="The model name in requests."
          required
          maxLength={200}
          {...text("model")}
        />
        {draft.kind === "address" && (
          <>
            <PasswordInput
              label="Key"
              description={
                judge?.has_key
                  ? "A key is stored. Leave empty to keep it."
                  : "Stored encrypted and never shown. Leave empty if none is needed."
              }
              autoComplete="new-password"
              value={draft.api_key}
              onChange={event => set({ api_key: event.currentTarget.value, forget: false })}
              error={fieldError(save.error, "/api_key")}
              disabled={draft.forget}
            />
            {keyIsExposed(draft, judge?.has_key ?? false) && (
              <Alert color="yellow" variant="light" p="xs" data-testid="key-exposed">
                The key would be sent unencrypted: use https, unless the network is your own.
              </Alert>
            )}
            {judge?.has_key && (
              <Checkbox
                label="Delete the stored key"
                checked={draft.forget}
                onChange={event => set({ forget: event.currentTarget.checked, api_key: "" })}
              />
            )}
          </>
        )}
        <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm">
          <NumberInput label="Concurrent requests" max={1024} allowDecimal={false} {...number("max_in_flight")} />
          <NumberInput label="Timeout (s)" max={600} {...number("timeout_s")} />
          <NumberInput label="Retries" max={10} allowDecimal={false} {...number("retries")} />
        </SimpleGrid>
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
          <NumberInput label="Price per 1M prompt tokens" placeholder="unknown" {...number("price_prompt")} />
          <NumberInput label="Price per 1M completion tokens" placeholder="unknown" {...number("price_completion")} />
        </SimpleGrid>
        {restError(save.error, FIELDS[draft.kind]) !== null && <ErrorState error={save.error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Back
          </Button>
          <Button type="submit" loading={save.isPending}>
            {judge ? "Save" : "Add judge"}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
