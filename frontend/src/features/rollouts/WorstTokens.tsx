/** The tokens of the last step on which engine and learner disagree most: where a mismatch starts. */
import { Accordion, Anchor, Box, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { decodeValue } from "@/entities/runs/points";
import type { WorstToken } from "@/api/events";
import { worstTokensQuery } from "@/entities/runs/queries";
import { formatNumber } from "@/lib/format";
import { Loaded } from "@/ui/Loaded";

interface Props {
  runId: string;
  /** Opens a token where it stands. */
  onOpen: (place: { group: string; token: number }) => void;
}

export function WorstTokens({ runId, onOpen }: Props) {
  return (
    <Loaded query={useQuery(worstTokensQuery(runId))} skeleton={null}>
      {({ step, tokens }) => tokens.length > 0 && <Tokens step={step} tokens={tokens} onOpen={onOpen} />}
    </Loaded>
  );
}

interface TokensProps extends Pick<Props, "onOpen"> {
  step: number | null;
  tokens: WorstToken[];
}

function Tokens({ step, tokens, onOpen }: TokensProps) {
  return (
    <Accordion variant="contained" mb="sm" data-testid="worst-tokens">
      <Accordion.Item value="worst">
        <Accordion.Control>
          <Text size="sm" fw={550}>
            Largest engine–learner differences, step {step}
          </Text>
        </Accordion.Control>
        <Accordion.Panel>
          <Box style={{ overflowX: "auto" }} tabIndex={0} role="region" aria-label="Tokens with the largest difference">
            <Table fz="xs" verticalSpacing={3} className="num">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Token</Table.Th>
                  <Table.Th>Group</Table.Th>
                  <Table.Th ta="right">Sample</Table.Th>
                  <Table.Th ta="right">Position</Table.Th>
                  <Table.Th ta="right">log p, engine</Table.Th>
                  <Table.Th ta="right">log p, learner</Table.Th>
                  <Table.Th ta="right">Difference</Table.Th>
                  <Table.Th ta="right">Weights</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {tokens.map(token => {
                  const engine = decodeValue(token.behaviour_logprob);
                  const learner = decodeValue(token.learner_logprob);
                  return (
                    <Table.Tr key={`${token.group_id}/${token.sample}/${token.position}`}>
                      <Table.Td className="mono">
                        <Anchor
                          component="button"
                          type="button"
                          fz="xs"
                          className="mono"
                          aria-label={`Token ${token.position} of group ${token.group_id}, sample ${token.sample + 1}`}
                          onClick={() => onOpen({ group: `${token.group_id}:${token.sample}`, token: token.position })}
                        >
                          {JSON.stringify(token.text ?? token.token_id)}
                        </Anchor>
                      </Table.Td>
                      <Table.Td className="mono">{token.group_id}</Table.Td>
                      <Table.Td ta="right">{token.sample + 1}</Table.Td>
                      <Table.Td ta="right">{token.position}</Table.Td>
                      <Table.Td ta="right">{formatNumber(engine)}</Table.Td>
                      <Table.Td ta="right">{formatNumber(learner)}</Table.Td>
                      <Table.Td ta="right">{formatNumber(learner - engine)}</Table.Td>
                      <Table.Td ta="right">{token.version}</Table.Td>
                    </Table.Tr>
                  );
                })}
              </Table.Tbody>
            </Table>
          </Box>
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  );
}
