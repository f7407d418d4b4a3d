/** A reward: its definition, the bench that tries it, proposals for its rubrics, and its versions. */
import { Badge, Select, Tabs } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import type { JsonSchema, Reward, RewardVersion, Spec } from "@/api/model";
import { BenchTab } from "@/features/rewards/bench/BenchTab";
import { rewardQuery, rewardSchemaQuery } from "@/entities/rewards/queries";
import type { RewardTab } from "@/entities/rewards/search";
import { DefinitionTab } from "@/features/rewards/definition/DefinitionTab";
import { useDraft } from "@/features/rewards/definition/useDraft";
import { VersionsTab } from "@/features/rewards/definition/VersionsTab";
import { ProposalsTab } from "@/features/rewards/proposals/ProposalsTab";
import { proposalsQuery } from "@/features/rewards/proposals/queries";
import { FIRST, type Pasted } from "@/features/rewards/samples/samples";
import { withDefaults } from "@/features/schema-form/schema";
import { formatAgo } from "@/lib/format";
import { CopyText } from "@/ui/CopyText";
import { Crumbs } from "@/ui/Crumbs";
import { Loaded } from "@/ui/Loaded";
import { PageHeader } from "@/ui/PageHeader";
import { Placeholder } from "@/ui/Placeholder";

const SKELETON = <Placeholder height={480} />;

export function RewardPage() {
  const { rewardId } = useParams({ from: "/app/rewards/$rewardId" });
  const { version: wanted } = useSearch({ from: "/app/rewards/$rewardId" });
  const reward = useQuery(rewardQuery(rewardId));
  const schema = useQuery(rewardSchemaQuery);
  return (
    <Loaded query={schema} skeleton={SKELETON}>
      {schema => (
        <Loaded page query={reward} skeleton={SKELETON}>
          {reward => {
            const versions = [...reward.versions].sort((a, b) => b.number - a.number);
            const version = versions.find(one => one.number === wanted) ?? reward.latest_version;
            return (
              <VersionEditor key={version.ref} schema={schema} reward={reward} versions={versions} version={version} />
            );
          }}
        </Loaded>
      )}
    </Loaded>
  );
}

interface Props {
  schema: JsonSchema;
  reward: Reward;
  /** Newest first. */
  versions: RewardVersion[];
  version: RewardVersion;
}

/** One version and the draft that is made from it. The draft and the pasted samples are shared by all tabs. */
function VersionEditor({ schema, reward, versions, version }: Props) {
  const { tab = "definition" } = useSearch({ from: "/app/rewards/$rewardId" });
  const navigate = useNavigate({ from: "/rewards/$rewardId" });
  const base = withDefaults(schema, schema, version.definition) as Spec;
  const draft = useDraft(version.ref, base);
  const [samples, setSamples] = useState<Pasted[]>([FIRST]);
  const open = useQuery(proposalsQuery(reward.id, "proposed")).data?.data.length ?? 0;
  const go = (next: RewardTab) =>
    void navigate({ search: previous => ({ ...previous, tab: next === "definition" ? undefined : next }) });
  return (
    <>
      <Crumbs to="/rewards" label="Rewards" here={reward.slug} />
      <PageHeader
        title={reward.name}
        description={`Version ${version.number}, ${formatAgo(version.created_at)} by ${version.created_by}${version.note ? `: ${version.note}` : ""}`}
        actions={
          <>
            <CopyText value={version.ref} label="Copy reference" />
            <Select
              aria-label="Version"
              data={versions.map(one => ({ value: String(one.number), label: `Version ${one.number}` }))}
              value={String(version.number)}
              onChange={next =>
                void navigate({ search: previous => ({ ...previous, version: next ? Number(next) : undefined }) })
              }
              allowDeselect={false}
              w={130}
            />
          </>
        }
      />
      <Tabs value={tab} onChange={next => go(next as RewardTab)} keepMounted={false}>
        <Tabs.List mb="md" style={{ flexWrap: "nowrap", overflowX: "auto", overflowY: "hidden" }}>
          <Tabs.Tab
            value="definition"
            rightSection={draft.changed ? <Badge miw="max-content">draft</Badge> : undefined}
          >
            Definition
          </Tabs.Tab>
          <Tabs.Tab value="bench">Bench</Tabs.Tab>
          <Tabs.Tab
            value="proposals"
            rightSection={
              open > 0 ? (
                <Badge color="grape" miw="max-content">
                  {open}
                </Badge>
              ) : undefined
            }
          >
            Proposals
          </Tabs.Tab>
          <Tabs.Tab value="versions">Versions</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="definition">
          <DefinitionTab
            schema={schema}
            reward={reward}
            versions={versions}
            base={base}
            draft={draft}
            samples={samples}
            onSamples={setSamples}
            onBench={() => go("bench")}
            draftKey={version.ref}
          />
        </Tabs.Panel>
        <Tabs.Panel value="bench">
          <BenchTab
            reward={reward}
            versions={versions}
            version={version}
            draft={draft}
            samples={samples}
            onSamples={setSamples}
          />
        </Tabs.Panel>
        <Tabs.Panel value="proposals">
          <ProposalsTab reward={reward} />
        </Tabs.Panel>
        <Tabs.Panel value="versions">
          <VersionsTab schema={schema} versions={versions} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}
