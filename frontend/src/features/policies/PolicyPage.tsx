/** One policy: what its files say, what of the platform works with it, and the memory that it takes. */
import { Alert, Badge, Button, Collapse, Group, Paper, SimpleGrid, Stack, Table, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { Policy, PolicyFacts } from "@/api/model";
import { policyFactsQuery, policyQuery } from "@/entities/policies/queries";
import { DASH, formatAgo, formatBytes, formatCount } from "@/lib/format";
import { CopyText } from "@/ui/CopyText";
import { Crumbs } from "@/ui/Crumbs";
import { Facts } from "@/ui/Facts";
import { Loaded } from "@/ui/Loaded";
import { PageHeader } from "@/ui/PageHeader";
import { Placeholder } from "@/ui/Placeholder";
import { Pre } from "@/ui/Pre";
import { TableFrame } from "@/ui/TableFrame";
import { placeOf } from "./place";
import { ServingPanel } from "./ServingPanel";

type Contents = NonNullable<PolicyFacts["contents"]>;

export function PolicyPage() {
  const { policyId } = useParams({ from: "/app/policies/$policyId" });
  const query = useQuery(policyQuery(policyId));
  const facts = useQuery(policyFactsQuery(policyId));
  return (
    <Loaded page query={query} skeleton={<Placeholder height={400} />}>
      {policy => (
        <>
          <Crumbs to="/policies" label="Policies" here={policy.slug} />
          <PageHeader
            title={policy.name}
            description={policy.architecture}
            actions={<CopyText value={policy.slug} label="Copy reference" />}
          />
          <Loaded query={facts} skeleton={<Placeholder height={300} />}>
            {found => (
              <Stack gap="md">
                <ServingPanel policyId={policy.id} slug={policy.slug} refusal={unservable(found)} />
                <PolicyView policy={policy} facts={found} />
              </Stack>
            )}
          </Loaded>
        </>
      )}
    </Loaded>
  );
}

/** Why a policy cannot be served; otherwise empty. */
function unservable({ contents, fault }: PolicyFacts): string {
  if (contents === null) return fault;
  return contents.chat_template === null ? "It has no chat template: programs could send it no messages." : "";
}

export function PolicyView({ policy, facts }: { policy: Policy; facts: PolicyFacts }) {
  return (
    <Stack gap="md">
      {facts.fault !== "" && <Alert color="red">{facts.fault}</Alert>}
      {facts.refusal !== "" && (
        <Alert color="red" title="Cannot be trained as is">
          {facts.refusal}
        </Alert>
      )}
      <Paper p="md">
        <Facts facts={[...ownFacts(policy), ...(facts.contents ? contentFacts(facts.contents) : [])]} />
      </Paper>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <Fits facts={facts} />
        <Needs facts={facts} />
      </SimpleGrid>
      {facts.contents && <Template contents={facts.contents} />}
      {facts.contents && <Tokens contents={facts.contents} />}
    </Stack>
  );
}

function ownFacts(policy: Policy): [string, string][] {
  const { origin } = policy;
  return [
    ["Parameters", formatCount(policy.parameters)],
    ["Weights", formatBytes(policy.bytes)],
    ["Context length", `${policy.max_position_embeddings.toLocaleString("en-GB")} tokens`],
    ["Vocabulary", policy.vocab_size.toLocaleString("en-GB")],
    ["From", origin?.location ?? placeOf(policy)],
    ...(origin?.commit ? ([["Commit", origin.commit]] as [string, string][]) : []),
    ...(origin?.revision ? ([["Requested revision", origin.revision]] as [string, string][]) : []),
    ["Registered", `${formatAgo(policy.created_at)} by ${policy.created_by}`],
    ["SHA-256", policy.sha256],
  ];
}

function contentFacts(contents: Contents): [string, string][] {
  const types = Object.entries(contents.numbers).map(([type, count]) =>
    Object.keys(contents.numbers).length === 1 ? type : `${type} (${formatCount(count)})`,
  );
  const experts =
    contents.experts === null ? [] : [["Experts", `${contents.experts_per_token ?? DASH} of ${contents.experts}`]];
  return [
    ["Model type", contents.model_type || DASH],
    ["Data type", types.join(", ") || DASH],
    ["Layers", text(contents.layers)],
    ["Hidden size", text(contents.hidden_size)],
    ["Heads", `${text(contents.attention_heads)} queries, ${text(contents.key_value_heads)} keys`],
    ...(experts as [string, string][]),
    ["Sliding window", contents.sliding_window === null ? "none" : `${text(contents.sliding_window)} tokens`],
    ["Output layer", contents.tied_embeddings ? "tied to the embedding" : "separate"],
    ["Thinking tags", contents.thinking ? `${contents.thinking.start} … ${contents.thinking.end}` : "none found"],
    ["Licence", contents.licence ?? "not stated"],
  ];
}

const text = (value: number | null) => (value === null ? DASH : value.toLocaleString("en-GB"));

function Fits({ facts }: { facts: PolicyFacts }) {
  return (
    <Paper p="md" component="section" aria-label="Compatibility">
      <Title order={2} mb="sm">
        Compatibility
      </Title>
      <Stack gap="xs">
        {facts.fits.map(fit => (
          <div key={fit.part}>
            <Group gap="xs" wrap="nowrap">
              <Badge color={fit.works ? "green" : "gray"} miw={52}>
                {fit.works ? "yes" : "no"}
              </Badge>
              <Text size="sm">{fit.part}</Text>
            </Group>
            {fit.note !== "" && (
              <Text size="xs" c="dimmed" pl={62}>
                {fit.note}
              </Text>
            )}
          </div>
        ))}
      </Stack>
      {facts.remarks.map(remark => (
        <Text key={remark} size="xs" c="dimmed" mt="xs">
          {remark}
        </Text>
      ))}
    </Paper>
  );
}

function Needs({ facts }: { facts: PolicyFacts }) {
  return (
    <Paper p="md" component="section" aria-label="Requirements">
      <Title order={2} mb="sm">
        Requirements
      </Title>
      {facts.needs.length === 0 ? (
        <Text size="sm" c="dimmed">
          Memory unknown: its sizes are not known.
        </Text>
      ) : (
        <TableFrame label="Memory">
          <Table verticalSpacing={4}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Training</Table.Th>
                <Table.Th ta="right">Learner rank</Table.Th>
                <Table.Th ta="right">Engine</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {facts.needs.map(need => (
                <Table.Tr key={need.training}>
                  <Table.Td>{need.training}</Table.Td>
                  <Table.Td ta="right" className="num">
                    {formatBytes(need.learner_bytes)}
                  </Table.Td>
                  <Table.Td ta="right" className="num">
                    {formatBytes(need.engine_bytes)}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </TableFrame>
      )}
      <Text size="xs" c="dimmed" mt="xs">
        {facts.needs_note}
      </Text>
    </Paper>
  );
}

function Template({ contents }: { contents: Contents }) {
  const [opened, { toggle }] = useDisclosure(false);
  const template = contents.chat_template;
  return (
    <Paper p="md" component="section" aria-label="Chat template">
      <Group justify="space-between" gap="xs">
        <Title order={2}>Chat template</Title>
        {template && (
          <Button size="compact-sm" variant="default" onClick={toggle} aria-expanded={opened}>
            {opened ? "Hide" : "Show"}
          </Button>
        )}
      </Group>
      {template ? (
        <>
          <Text size="xs" c="dimmed" className="mono" style={{ overflowWrap: "anywhere" }}>
            sha256 {template.sha256}
          </Text>
          {!template.prompts_answers && (
            <Alert color="yellow" mt="xs">
              It ignores add_generation_prompt: prompts of messages do not end where an answer starts.
            </Alert>
          )}
          <Collapse expanded={opened} mt="xs">
            <Pre label="Chat template">{template.text}</Pre>
          </Collapse>
        </>
      ) : (
        <Text size="sm" c="dimmed">
          None. Use prompts as text, not as messages.
        </Text>
      )}
    </Paper>
  );
}

function Tokens({ contents }: { contents: Contents }) {
  const { bos, eos, pad, others } = contents.special_tokens;
  return (
    <Paper p="md" component="section" aria-label="Special tokens">
      <Title order={2} mb="sm">
        Special tokens
      </Title>
      <Facts
        facts={[
          ["Start", bos ?? "none"],
          ["End of answer", eos.join("  ") || "none"],
          ["Padding", pad ?? "none"],
          [others.length === 1 ? "One other" : `${others.length} others`, others.slice(0, 40).join("  ") || DASH],
        ]}
      />
    </Paper>
  );
}
