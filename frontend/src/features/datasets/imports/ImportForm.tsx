/** Imports a dataset from Hugging Face, a URL or a folder: files are listed, chosen, and fetched in the background. */
import { Button, Checkbox, Group, Loader, NativeSelect, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import * as api from "@/api/client";
import { errorText } from "@/api/http";
import type { Dataset, DatasetSources } from "@/api/model";
import { fieldError, restError } from "@/api/problems";
import { repositoryName, revisionIn } from "@/entities/policies/imports";
import { formatBytes } from "@/lib/format";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";
import { MONO } from "@/ui/styles";
import { suggestedName } from "./import-text";
import { importsQuery } from "./queries";

export type Place = "hub" | "url" | "folder";

const PLACE: Record<Place, { label: string; placeholder: string }> = {
  hub: { label: "Hugging Face dataset", placeholder: "openai/gsm8k" },
  url: { label: "Address", placeholder: "https://data.example.org/sets/train.jsonl.gz" },
  folder: { label: "File or folder", placeholder: "/data/sets/gsm8k" },
};

interface Props {
  place: Place;
  sources: DatasetSources;
  /** If given, the import becomes its next version. */
  dataset?: Dataset;
  onDone: () => void;
}

export function ImportForm({ place, sources, dataset, onDone }: Props) {
  const [typed, setTyped] = useState("");
  const [revision, setRevision] = useState("");
  const [listed, setListed] = useState<{ location: string; revision: string } | null>(null);
  const [choice, setChoice] = useState(0);
  const [left, setLeft] = useState<string[]>([]);
  const [named, setNamed] = useState<string | null>(null);
  const [description, setDescription] = useState("");
  const [review, setReview] = useState(true);
  const client = useQueryClient();
  const location = place === "hub" ? repositoryName(typed) : typed.trim();
  const name = named ?? suggestedName(location);
  const listing = useQuery({
    queryKey: ["dataset-listing", place, listed],
    queryFn: ({ signal }) => api.listImportableFiles({ source: place, ...listed! }, { signal }),
    enabled: listed !== null,
    retry: false,
    staleTime: 60_000,
  });
  const choices = listing.data?.choices ?? [];
  const chosen = choices[choice];
  const files = chosen?.files.map(file => file.path).filter(path => !left.includes(path)) ?? [];
  const start = useSubmit({
    mutationFn: () =>
      api.startDatasetImport({
        source: place,
        location: listed!.location,
        // The commit that was listed: what the person saw is what comes.
        revision: listing.data?.commit ?? "",
        config: chosen!.config,
        split: chosen!.split,
        files: left.length > 0 ? files : [],
        review,
        ...(dataset ? { dataset: dataset.id } : { name, description }),
      }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: importsQuery.queryKey });
      onDone();
    },
  });
  const anew = () => {
    setListed(null);
    setChoice(0);
    setLeft([]);
    start.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (chosen) start.mutate();
    else setListed({ location, revision: place === "hub" ? revision.trim() : "" });
  };
  return (
    <form onSubmit={submit} data-testid="import-form">
      <Stack gap="sm">
        <TextInput
          label={PLACE[place].label}
          description={describe(place, sources)}
          placeholder={PLACE[place].placeholder}
          value={typed}
          onChange={event => {
            const text = event.currentTarget.value;
            setTyped(text);
            const inAddress = place === "hub" ? revisionIn(text) : null;
            if (inAddress !== null) setRevision(inAddress);
            anew();
          }}
          error={fieldError(listing.error, "/location") ?? fieldError(start.error, "/location")}
          styles={MONO}
          required
          data-autofocus
        />
        {place === "hub" && (
          <TextInput
            label="Revision"
            description="A branch, tag or commit. Pinned to its current commit."
            placeholder="main"
            value={revision}
            onChange={event => {
              setRevision(event.currentTarget.value);
              anew();
            }}
            error={fieldError(listing.error, "/revision")}
            styles={MONO}
          />
        )}
        {restError(listing.error, ["/location", "/revision"]) !== null && <ErrorState error={listing.error} />}
        {listing.isFetching && (
          <Group gap="xs" aria-busy="true">
            <Loader size="xs" />
            <Text size="sm" c="dimmed">
              Listing files.
            </Text>
          </Group>
        )}
        {listing.data && choices.length === 0 && (
          <Text size="sm" c="var(--c-bad)" role="alert">
            No data files found (Parquet, JSON Lines, JSON, CSV or TSV). For script-based datasets, use the revision
            refs/convert/parquet.
          </Text>
        )}
        {chosen && (
          <>
            <NativeSelect
              label="Config and split"
              data={choices.map((one, index) => ({
                value: String(index),
                label: `${one.config} / ${one.split}: ${filesText(one.files.length)}, ${formatBytes(one.bytes)}`,
              }))}
              value={String(choice)}
              onChange={event => {
                setChoice(Number(event.currentTarget.value));
                setLeft([]);
              }}
            />
            {chosen.files.length > 1 && (
              <Checkbox.Group
                label="Files, read in order"
                value={files}
                onChange={next => setLeft(chosen.files.map(file => file.path).filter(path => !next.includes(path)))}
              >
                <Stack gap={4} mt={4} mah={180} style={{ overflowY: "auto" }}>
                  {chosen.files.map(file => (
                    <Checkbox
                      key={file.path}
                      size="xs"
                      value={file.path}
                      label={`${file.path} (${formatBytes(file.bytes)})`}
                    />
                  ))}
                </Stack>
              </Checkbox.Group>
            )}
            {listing.data?.licence && <Text size="sm">Licence: {listing.data.licence}</Text>}
            {!dataset && (
              <>
                <TextInput
                  label="Name"
                  value={name}
                  onChange={event => setNamed(event.currentTarget.value)}
                  error={fieldError(start.error, "/name") ?? fieldError(start.error, "/slug")}
                  maxLength={120}
                  required
                />
                <Textarea
                  label="Description"
                  value={description}
                  onChange={event => setDescription(event.currentTarget.value)}
                  autosize
                  minRows={2}
                />
              </>
            )}
            <Checkbox
              label="Review the rows before they are stored"
              description="Unknown row formats always wait for review."
              checked={review}
              onChange={event => setReview(event.currentTarget.checked)}
            />
          </>
        )}
        {restError(start.error, ["/location", "/name", "/slug"]) !== null && (
          <Text size="sm" c="var(--c-bad)" role="alert">
            {errorText(start.error)}
          </Text>
        )}
        <Group justify="flex-end">
          {chosen ? (
            <Button type="submit" loading={start.isPending} disabled={files.length === 0 || (!dataset && !name.trim())}>
              Import
            </Button>
          ) : (
            <Button type="submit" loading={listing.isFetching} disabled={location === ""}>
              List files
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}

const filesText = (count: number) => (count === 1 ? "1 file" : `${count.toLocaleString("en-GB")} files`);

function describe(place: Place, sources: DatasetSources): string {
  if (place !== "hub") return `Allowed: ${sources[place].allowed.join(", ")}`;
  const { endpoint, has_credentials } = sources.hub;
  return has_credentials
    ? `As owner/name. Fetched from ${endpoint} with the team’s token.`
    : `As owner/name. Fetched from ${endpoint} without a token. For gated datasets, an admin must enter one on the Policies page.`;
}
