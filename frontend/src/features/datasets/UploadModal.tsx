/** A dialog for a new dataset or version, from a file or elsewhere. It asks before discarding anything. */
import { Alert, Modal, SegmentedControl, Stack } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Dataset, DatasetSources } from "@/api/model";
import { ImportForm, type Place } from "@/features/datasets/imports/ImportForm";
import { sourcesQuery } from "@/features/datasets/imports/queries";
import { useCan } from "@/features/session/session";
import { ErrorState } from "@/ui/ErrorState";
import { LeaveGuard } from "@/ui/LeaveGuard";
import { UploadForm } from "./UploadForm";

type Way = "file" | Place;

const WAYS: { value: Way; label: string }[] = [
  { value: "file", label: "Upload a file" },
  { value: "hub", label: "From Hugging Face" },
  { value: "url", label: "From a URL" },
  { value: "folder", label: "From a folder on the server" },
];

interface Props {
  opened: boolean;
  onClose: () => void;
  title: string;
  size: string;
  dataset?: Dataset;
  dropped?: File | null;
  onDone: (id: string) => void;
}

export function UploadModal({ opened, onClose, title, size, ...form }: Props) {
  const [holds, setHolds] = useState(false);
  const [way, setWay] = useState<Way>("file");
  const admin = useCan("admin");
  const wide = useMediaQuery("(min-width: 48em)", true);
  const sources = useQuery({ ...sourcesQuery, enabled: opened });
  // Who may not change the installation is spared what it does not allow.
  const ways = WAYS.filter(({ value }) => value === "file" || admin || refusalOf(value, sources.data) === "");
  return (
    <Modal
      opened={opened}
      onClose={() => {
        onClose();
        setWay("file");
      }}
      title={title}
      size={size}
      // It grows with the first rows of a file: downward alone, so that what is pointed at stays.
      centered={false}
      closeOnClickOutside={!holds}
      closeOnEscape={!holds}
    >
      <LeaveGuard when={opened && holds}>The upload and its column mapping will be discarded.</LeaveGuard>
      <Stack gap="md">
        {sources.isError && <ErrorState error={sources.error} retry={() => void sources.refetch()} />}
        {ways.length > 1 && (
          <SegmentedControl
            aria-label="Source of the rows"
            orientation={wide ? "horizontal" : "vertical"}
            fullWidth
            data={ways}
            value={way}
            disabled={holds}
            onChange={next => setWay(next as Way)}
          />
        )}
        {way === "file" ? (
          <UploadForm {...form} onHolds={setHolds} />
        ) : (
          sources.data && (
            <Elsewhere
              key={way}
              place={way}
              sources={sources.data}
              dataset={form.dataset}
              onDone={() => {
                onClose();
                setWay("file");
              }}
            />
          )
        )}
      </Stack>
    </Modal>
  );
}

function Elsewhere(props: { place: Place; sources: DatasetSources; dataset?: Dataset; onDone: () => void }) {
  const refusal = refusalOf(props.place, props.sources);
  return refusal === "" ? <ImportForm {...props} /> : <Alert color="yellow">{refusal}</Alert>;
}

/** Why a source is unavailable; empty if it is available or still unknown. */
function refusalOf(place: Place, sources: DatasetSources | undefined): string {
  return sources?.[place].refusal ?? "";
}
