/** Memorisation: whether a model, shown the beginning of a row, continues it verbatim. */
import { NumberInput } from "@mantine/core";
import { useState } from "react";
import { TextLink } from "@/ui/TextLink";
import { Asked } from "./Asked";
import { ASKING_FIELDS, AskOptions, askingOf, NO_ASKING } from "./AskOptions";
import { type CardProps, LabCard } from "./LabCard";
import { MemorisedRows } from "./MemorisedRows";

export function MemorisationCard({ dataset, version, jobs }: CardProps) {
  const [asking, setAsking] = useState(NO_ASKING);
  const [shown, setShown] = useState<number | string>(60);
  const [least, setLeast] = useState<number | string>(8);
  const chosen = askingOf(asking, version.rows);
  const isSet = typeof shown === "number" && shown >= 20 && typeof least === "number" && least >= 3;
  return (
    <LabCard
      {...{ dataset, version, jobs }}
      title="Memorisation"
      description="Whether a model has memorised rows: it sees the beginning of each and continues it. A verbatim continuation was seen in training, which comparing datasets cannot show."
      operation={
        chosen && isSet
          ? { kind: "memorisation", ...chosen, shown: Number(shown) / 100, least_rest: Number(least) }
          : null
      }
      shown={ASKING_FIELDS}
      options={error => (
        <>
          <AskOptions rows={version.rows} value={asking} onChange={setAsking} error={error} />
          <NumberInput
            label="Shown to the model"
            description="Share of the words of a prompt"
            suffix=" %"
            min={20}
            max={90}
            allowDecimal={false}
            clampBehavior="strict"
            w={220}
            value={shown}
            onChange={setShown}
          />
          <NumberInput
            label="Continuation of at least"
            description="A shorter one can be guessed"
            suffix=" words"
            min={3}
            max={200}
            allowDecimal={false}
            w={220}
            value={least}
            onChange={setLeast}
          />
        </>
      )}
      startLabel="Test rows"
      never="No model tested on this version yet."
      made={({ memorisation }) =>
        memorisation && {
          label: "Create a version without memorised rows",
          condition: { column: "completed", equals: false },
          disabled: memorisation.completed === 0 || memorisation.completed === memorisation.tried,
        }
      }
    >
      {({ memorisation }) =>
        memorisation && (
          <>
            <MemorisedRows report={memorisation} />
            {memorisation.completed > 0 && (
              <TextLink
                size="sm"
                to="/datasets/$datasetId"
                params={{ datasetId: dataset.id }}
                search={{ version: version.number, tab: "rows", notes: "memorisation.overlap:1.." }}
              >
                Show memorised rows
              </TextLink>
            )}
            <Asked asked={memorisation.asked} />
          </>
        )
      }
    </LabCard>
  );
}
