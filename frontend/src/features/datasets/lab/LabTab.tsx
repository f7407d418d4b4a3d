/** Operations on the rows of a version: each with its cost before it is started, and what it found. */
import { Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Dataset, DatasetVersion } from "@/api/model";
import { Loaded } from "@/ui/Loaded";
import { Placeholder } from "@/ui/Placeholder";
import { ContaminationCard } from "./ContaminationCard";
import { DuplicatesCard } from "./DuplicatesCard";
import { MemorisationCard } from "./MemorisationCard";
import { ParaphrasesCard } from "./ParaphrasesCard";
import { QualityCard } from "./QualityCard";
import { StatisticsCard } from "./StatisticsCard";
import { SynthesisCard } from "./SynthesisCard";
import { labJobsQuery } from "./queries";

interface Props {
  dataset: Dataset;
  version: DatasetVersion;
  /** Cards of other rooms, below those of the lab. */
  children?: ReactNode;
}

export function LabTab({ dataset, version, children }: Props) {
  const jobs = useQuery(labJobsQuery(dataset.id, version.number));
  return (
    <Stack gap="md" component="section" aria-label="Lab">
      <Text size="sm" c="dimmed">
        Results are stored as row notes. The version itself never changes; new versions are created from it.
      </Text>
      <Loaded query={jobs} skeleton={<Placeholder height={220} />}>
        {({ data }) => (
          <>
            <DuplicatesCard dataset={dataset} version={version} jobs={data.filter(job => job.kind === "duplicates")} />
            <ContaminationCard
              dataset={dataset}
              version={version}
              jobs={data.filter(job => job.kind === "contamination")}
            />
            <ParaphrasesCard
              dataset={dataset}
              version={version}
              jobs={data.filter(job => job.kind === "paraphrases")}
            />
            <MemorisationCard
              dataset={dataset}
              version={version}
              jobs={data.filter(job => job.kind === "memorisation")}
            />
            <QualityCard dataset={dataset} version={version} jobs={data.filter(job => job.kind === "quality")} />
            <SynthesisCard dataset={dataset} version={version} jobs={data.filter(job => job.kind === "synthesis")} />
            <StatisticsCard dataset={dataset} version={version} jobs={data.filter(job => job.kind === "statistics")} />
          </>
        )}
      </Loaded>
      {children}
    </Stack>
  );
}
