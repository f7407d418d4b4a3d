/** Quality: a rubric by which a judge scores rows, and a version without the low ones. */
import { NumberInput } from "@mantine/core";
import { useState } from "react";
import type { Json, LabOperationRubricItem, LabReport } from "@/api/model";
import { itemsOf } from "@/features/rewards/rubric/rubric";
import { RubricItems } from "@/features/rewards/rubric/RubricItems";
import { SchemaForm } from "@/features/schema-form/SchemaForm";
import { TextLink } from "@/ui/TextLink";
import { Agreement } from "./Agreement";
import { Asked } from "./Asked";
import { ASKING_FIELDS, AskOptions, askingOf, NO_ASKING } from "./AskOptions";
import { type CardProps, LabCard } from "./LabCard";
import { QualityScores } from "./QualityScores";

const ITEMS: Json = [
  { name: "clear", description: "The question says all that is needed and can be understood in one way.", weight: 1 },
  { name: "answered", description: "The answer is right, and answers what was asked.", weight: 1 },
];

export function QualityCard({ dataset, version, jobs }: CardProps) {
  const [asking, setAsking] = useState(NO_ASKING);
  const [items, setItems] = useState<Json>(ITEMS);
  const [percent, setPercent] = useState<number | string>(50);
  const threshold = typeof percent === "number" ? percent / 100 : 0.5;
  const [marking, setMarking] = useState(false);
  const chosen = askingOf(asking, version.rows);
  const rubric = criteriaOf(items);
  return (
    <LabCard
      {...{ dataset, version, jobs }}
      title="Quality"
      description="A model scores each row by your criteria. Rows that it does not answer have no score. Mark rows yourself to see how reliable its scores are."
      operation={chosen && rubric ? { kind: "quality", ...chosen, items: rubric } : null}
      shown={ASKING_FIELDS}
      options={error => (
        <>
          <AskOptions rows={version.rows} value={asking} onChange={setAsking} error={error} />
          <div style={{ width: "100%" }}>
            <SchemaForm schema={{}} value={null} onChange={() => {}}>
              <RubricItems path={["items"]} value={items} onChange={setItems} max={32} />
            </SchemaForm>
          </div>
        </>
      )}
      startLabel="Score rows"
      never="No rows scored yet."
      made={({ quality }) =>
        quality && {
          label: `Create a version of the ${kept(quality, threshold).toLocaleString("en-GB")} rows from ${Math.round(threshold * 100)} %`,
          condition: { column: "score", least: threshold },
          disabled: kept(quality, threshold) === 0 || kept(quality, threshold) === quality.rows,
        }
      }
    >
      {({ quality }, job) =>
        quality && (
          <>
            {!marking && <QualityScores report={quality} threshold={threshold} />}
            <NumberInput
              label="Good from"
              description="Minimum score to keep a row"
              suffix=" %"
              min={5}
              max={100}
              step={5}
              allowDecimal={false}
              clampBehavior="strict"
              w={220}
              value={percent}
              onChange={next => setPercent(typeof next === "number" ? next : 50)}
              onBlur={() => setPercent(Math.max(5, Math.round(threshold * 20) * 5))}
            />
            {!marking && (
              <TextLink
                size="sm"
                to="/datasets/$datasetId"
                params={{ datasetId: dataset.id }}
                search={{ version: version.number, tab: "rows", notes: `quality.score:..${below(threshold)}` }}
              >
                Show rows below
              </TextLink>
            )}
            <Agreement job={job.id} {...{ threshold, marking }} onMarking={setMarking} />
            <Asked asked={quality.asked} />
          </>
        )
      }
    </LabCard>
  );
}

/** The criteria as the operation has them; null if one is not written yet, or none can be won. */
export function criteriaOf(items: Json): LabOperationRubricItem[] | null {
  const found = itemsOf(items).flatMap(({ name, description, weight }) =>
    name && description && typeof weight === "number" && weight !== 0 ? [{ name, description, weight }] : [],
  );
  const complete = found.length === itemsOf(items).length && found.some(one => one.weight > 0);
  return complete && new Set(found.map(one => one.name)).size === found.length ? found : null;
}

/** Rows from a score on; scores are counted in bins whose edges the thresholds are. */
export function kept({ histogram }: NonNullable<LabReport["quality"]>, threshold: number): number {
  return histogram.filter(bin => bin.least >= threshold - 1e-9).reduce((sum, bin) => sum + bin.rows, 0);
}

/** The largest score that is told to be below. */
const below = (threshold: number) => (threshold - 1e-6).toFixed(6);
