/** Synthesis: variations of rows that a model writes, verified, and the version that has them. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Asked } from "./Asked";
import { AskOptions, askingOf, NO_ASKING } from "./AskOptions";
import { type CardProps, LabCard } from "./LabCard";
import { NO_SYNTHESIS, SYNTHESIS_FIELDS, synthesisOf } from "./synthesis";
import { SynthesisFound } from "./SynthesisFound";
import { SynthesisGrading } from "./SynthesisGrading";
import { SynthesisMore } from "./SynthesisMore";
import { SynthesisOptions } from "./SynthesisOptions";
import { SynthesisTarget } from "./SynthesisTarget";

export function SynthesisCard({ dataset, version, jobs }: CardProps) {
  const [asking, setAsking] = useState(NO_ASKING);
  const [fields, setFields] = useState(NO_SYNTHESIS);
  const client = useQueryClient();
  const made = jobs[0]?.made?.ref;
  useEffect(() => {
    if (!made) return;
    void client.invalidateQueries({ queryKey: ["datasets", dataset.id], exact: true });
    void client.invalidateQueries({ queryKey: ["datasets"], exact: true });
  }, [client, dataset.id, made]);
  return (
    <LabCard
      {...{ dataset, version, jobs }}
      title="Synthesis"
      description="A model writes variations of rows. Each is answered several times and compared with the row’s gold answer. Verified variations become a new version that links each to its row."
      operation={synthesisOf(askingOf(asking, version.rows), fields)}
      shown={SYNTHESIS_FIELDS}
      options={error => (
        <>
          <AskOptions rows={version.rows} value={asking} onChange={setAsking} error={error} />
          <SynthesisOptions value={fields} onChange={setFields} error={error} />
          <SynthesisGrading value={fields} onChange={setFields} error={error} />
          <SynthesisTarget dataset={dataset} value={fields} onChange={setFields} error={error} />
          <SynthesisMore value={fields} onChange={setFields} error={error} />
        </>
      )}
      startLabel="Write variations"
      never="No variations yet."
      undoLabel="Undo: delete version and notes"
    >
      {({ synthesis }, job) =>
        synthesis && (
          <>
            <SynthesisFound report={synthesis} made={job.made} />
            <Asked asked={synthesis.asked} />
          </>
        )
      }
    </LabCard>
  );
}
