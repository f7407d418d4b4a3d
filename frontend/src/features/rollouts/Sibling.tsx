/** One sample of a group next to the others: its reward, its thinking, folded, and its answer. */
import { Badge, Button, Collapse, Group, Paper, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { Rollout } from "@/api/model";
import { DASH, formatNumber } from "@/lib/format";
import ui from "@/ui/ui.module.css";
import { Written } from "@/ui/Written";
import { partsOf } from "./parts";
import { RewardCell } from "./RewardCell";
import { RewardParts } from "./RewardParts";
import classes from "./rollouts.module.css";
import { splitThinking, type Tags } from "./thinking";
import { AUTHOR_TITLES, turnsOf } from "./turns";

interface Props {
  row: Rollout;
  tags: Tags | null;
  current: boolean;
  onTokens: () => void;
}

export function Sibling({ row, tags, current, onTokens }: Props) {
  const turns = turnsOf(row);
  return (
    <Paper className={classes.sibling} data-current={current || undefined} data-testid={`sample-${row.sample}`}>
      <Group justify="space-between" wrap="nowrap" gap={6}>
        <Text size="xs" c="dimmed">
          Sample {row.sample + 1}
        </Text>
        <Group gap={4} wrap="nowrap">
          {row.budget_hit && <Badge color="grape">budget hit</Badge>}
          {row.excluded && <Badge color="gray">excluded: {row.excluded.replaceAll("_", " ")}</Badge>}
          <Button
            size="compact-xs"
            variant="light"
            onClick={onTokens}
            aria-label={`Tokens of sample ${row.sample + 1}`}
          >
            Tokens
          </Button>
        </Group>
      </Group>
      <Group gap="md" mt={4} wrap="wrap">
        <RewardCell row={row} brief />
        <Text size="xs" c="dimmed" className="num">
          A {row.excluded ? DASH : formatNumber(row.advantage, 3)} · {row.length} tokens · {row.finish_reason}
        </Text>
      </Group>
      {row.reward_error && (
        <Text size="xs" c="var(--c-bad)" mt={4}>
          {row.reward_error}
        </Text>
      )}
      <RewardParts
        label={`Parts of the reward of sample ${row.sample + 1}`}
        parts={partsOf(row.reward_parts, row.explanation)}
        told={row.explanation !== null}
      />
      {turns.length === 1 ? (
        <TurnView sample={row.sample} text={row.completion} tokens={row.thinking_tokens} tags={tags} />
      ) : (
        turns.map(({ author, text }, index) => (
          <div key={index} data-testid={`turn-${index}`}>
            <div className={ui.caption}>
              {AUTHOR_TITLES[author]}, turn {index + 1} of {turns.length}
            </div>
            {author === "policy" ? (
              <TurnView sample={row.sample} text={text} tags={tags} turn={index + 1} />
            ) : (
              <Written label={`Turn ${index + 1} of sample ${row.sample + 1}`}>{text.trim()}</Written>
            )}
          </div>
        ))
      )}
    </Paper>
  );
}

interface TurnProps {
  sample: number;
  text: string;
  tags: Tags | null;
  /** Thinking tokens, where they are known for this turn alone. */
  tokens?: number;
  /** Number of the turn, if there are several. */
  turn?: number;
}

/** A turn of the policy: its thinking, folded, and its answer. */
function TurnView({ sample, text, tags, tokens, turn }: TurnProps) {
  const { thinking, answer, closed } = splitThinking(text, tags);
  const [opened, { toggle }] = useDisclosure(false);
  const where = turn === undefined ? `sample ${sample + 1}` : `turn ${turn} of sample ${sample + 1}`;
  return (
    <>
      {thinking !== null && (
        <>
          <Group gap={6} className={ui.caption}>
            Thinking {tokens !== undefined && <span className="num">{tokens} tokens</span>}
            {!closed && <span>not closed</span>}
            <Button
              size="compact-xs"
              variant="subtle"
              onClick={toggle}
              aria-expanded={opened}
              aria-label={`${opened ? "Fold" : "Unfold"} the thinking of ${where}`}
            >
              {opened ? "Fold" : "Unfold"}
            </Button>
          </Group>
          <Collapse expanded={opened}>
            <Written label={`Thinking of ${where}`} className={classes.thinking}>
              {thinking.trim()}
            </Written>
          </Collapse>
        </>
      )}
      <div className={ui.caption}>Answer</div>
      <Written label={`Answer of ${where}`}>{answer.trim()}</Written>
    </>
  );
}
