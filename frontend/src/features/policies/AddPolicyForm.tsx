/**
 * Adds a policy from one of three sources. Remote ones are fetched in the background; a folder is registered
 * immediately.
 */
import { Button, Group, SegmentedControl, Stack, Text, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import * as api from "@/api/client";
import type { PolicySources } from "@/api/model";
import { fieldError, restError } from "@/api/problems";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";
import { MONO } from "@/ui/styles";
import { nameOf, repositoryName, revisionIn, type Source } from "@/entities/policies/imports";
import { sourcesQuery } from "@/entities/policies/queries";

const FIELDS: Record<Source, string[]> = {
  hub: ["/name", "/slug", "/location", "/revision"],
  bucket: ["/name", "/slug", "/location"],
  folder: ["/name", "/slug", "/path"],
};
const PLACE: Record<Source, { label: string; description: string; placeholder: string; pointer: string }> = {
  hub: {
    label: "Repository",
    description: "As owner/name. Fetches safetensors, tokenizer and configuration, never code.",
    placeholder: "Qwen/Qwen3-0.6B",
    pointer: "/location",
  },
  bucket: {
    label: "Address",
    description: "The folder of one policy in a bucket.",
    placeholder: "s3://bucket/folder",
    pointer: "/location",
  },
  folder: {
    label: "Folder",
    description: "A Hugging Face folder on the platform’s machine: config.json, a tokenizer and safetensors weights.",
    placeholder: "/models/qwen3",
    pointer: "/path",
  },
};

export function AddPolicyForm({ onDone }: { onDone: () => void }) {
  const [source, setSource] = useState<Source>("hub");
  const [place, setPlace] = useState("");
  const [revision, setRevision] = useState("");
  const [named, setNamed] = useState<string | null>(null);
  const sources = useQuery(sourcesQuery).data;
  const client = useQueryClient();
  const location = source === "hub" ? repositoryName(place) : place.trim();
  const name = named ?? nameOf(location);
  const add = useSubmit({
    mutationFn: async () => {
      if (source === "folder") await api.registerPolicy({ name, path: location });
      else await api.startPolicyImport({ name, source, location, revision: source === "hub" ? revision.trim() : "" });
    },
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: [source === "folder" ? "policies" : "policy-imports"] });
      onDone();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate();
  };
  const { label, description, placeholder, pointer } = PLACE[source];
  return (
    <form onSubmit={submit} data-testid="add-policy-form">
      <Stack gap="sm">
        {restError(add.error, FIELDS[source]) !== null && <ErrorState error={add.error} />}
        <SegmentedControl
          aria-label="Source"
          fullWidth
          data={[
            { value: "hub", label: "Hugging Face" },
            { value: "bucket", label: "Object store" },
            { value: "folder", label: "Folder" },
          ]}
          value={source}
          onChange={next => {
            setSource(next as Source);
            setPlace("");
            add.reset();
          }}
        />
        <TextInput
          label={label}
          description={description}
          placeholder={placeholder}
          value={place}
          onChange={event => {
            const typed = event.currentTarget.value;
            setPlace(typed);
            const named = source === "hub" ? revisionIn(typed) : null;
            if (named !== null) setRevision(named);
          }}
          error={fieldError(add.error, pointer)}
          styles={MONO}
          required
          data-autofocus
        />
        {source === "hub" && (
          <TextInput
            label="Revision"
            description="A branch, tag or commit. Pinned to its current commit."
            placeholder="main"
            value={revision}
            onChange={event => setRevision(event.currentTarget.value)}
            error={fieldError(add.error, "/revision")}
            styles={MONO}
          />
        )}
        <TextInput
          label="Name"
          value={name}
          onChange={event => setNamed(event.currentTarget.value)}
          error={fieldError(add.error, "/name") ?? fieldError(add.error, "/slug")}
          maxLength={120}
          required
        />
        {source !== "folder" && (
          <Text size="xs" c="dimmed">
            {accessText(source, sources)}
          </Text>
        )}
        <Group justify="flex-end">
          <Button type="submit" loading={add.isPending}>
            {source === "folder" ? "Register" : "Import"}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function accessText(source: "hub" | "bucket", sources: PolicySources | undefined): string {
  const found = sources?.[source];
  if (found === undefined) return "";
  if (!found.available) return "This installation does not use Hugging Face: put the folder on the platform’s machine.";
  const where = found.endpoint ?? "Amazon S3";
  return found.has_credentials
    ? `Fetched from ${where} with the team’s credentials.`
    : `Fetched from ${where} without credentials. For private or gated policies, an admin must enter some.`;
}
