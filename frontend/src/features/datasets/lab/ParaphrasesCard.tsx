/** Paraphrases: rows with similar embeddings. */
import { Alert } from "@mantine/core";
import { useState } from "react";
import type { ParaphrasesReport } from "@/api/model";
import { formatPercent } from "@/lib/format";
import { TextLink } from "@/ui/TextLink";
import { Asked } from "./Asked";
import { ModelChoice } from "./AskOptions";
import { Clusters } from "./DuplicatesCard";
import { type CardProps, LabCard } from "./LabCard";
import { type Likeness, LikenessOptions, shareOf } from "./LikenessOptions";

/** Pointers of refusals that are at a field of the card. */
const FIELDS = /^\/operation\/endpoint$/;

/** Background from which a threshold has little room. */
const HARDLY_APART = 0.9;

export function ParaphrasesCard({ dataset, version, jobs }: CardProps) {
  const [endpoint, setEndpoint] = useState<string | null>(null);
  const [likeness, setLikeness] = useState<Likeness>({ from: 95, sameNumbers: true });
  const threshold = shareOf(likeness);
  return (
    <LabCard
      {...{ dataset, version, jobs }}
      title="Paraphrases"
      description="Rows that say the same in other words, found by comparing embeddings. Models make mistakes, so check the rows before you remove them."
      operation={
        endpoint === null || threshold === null
          ? null
          : { kind: "paraphrases", endpoint, threshold, same_numbers: likeness.sameNumbers }
      }
      shown={FIELDS}
      options={error => (
        <>
          <ModelChoice value={endpoint} onChange={setEndpoint} error={error} />
          <LikenessOptions
            label="Similarity from"
            description="Cosine similarity of embeddings"
            value={likeness}
            onChange={setLikeness}
          />
        </>
      )}
      startLabel="Find paraphrases"
      never="Not checked for paraphrases yet."
      made={({ paraphrases }) =>
        paraphrases && {
          label: "Create a version with one of each",
          condition: { column: "keep", equals: true },
          disabled: paraphrases.found.kept === paraphrases.found.rows || paraphrases.found.kept === 0,
        }
      }
    >
      {({ paraphrases }) =>
        paraphrases && (
          <>
            <Background report={paraphrases} />
            <Clusters report={paraphrases.found} />
            {paraphrases.found.clusters > 0 && (
              <TextLink
                size="sm"
                to="/datasets/$datasetId"
                params={{ datasetId: dataset.id }}
                search={{ version: version.number, tab: "rows", notes: "paraphrases.size:2.." }}
              >
                Show rows
              </TextLink>
            )}
            <Asked asked={paraphrases.asked} />
          </>
        )
      }
    </LabCard>
  );
}

/** The similarity of unrelated rows under the same model. */
export function Background({ report: { background } }: { report: ParaphrasesReport }) {
  return (
    <Alert color={background > HARDLY_APART ? "yellow" : "gray"} role="status">
      Of 1,000 random pairs of rows, one is more than {formatPercent(background)} similar
      {background <= HARDLY_APART
        ? "."
        : background < 0.98
          ? ": this model separates rows poorly, so choose a similarity well above that."
          : ": this model does not separate rows. Use an embedding model."}
    </Alert>
  );
}
