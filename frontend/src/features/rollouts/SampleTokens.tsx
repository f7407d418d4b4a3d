/** The tokens of the chosen sample: overlays, legend, the values of the one that is looked at, the way to the worst. */
import { Button, Group, Kbd, SegmentedControl, Select, Skeleton, Text, Tooltip } from "@mantine/core";
import { useHotkeys, useMediaQuery } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { Rollout } from "@/api/model";
import { formatCount } from "@/lib/format";
import { Loaded } from "@/ui/Loaded";
import { thinkingFold } from "./folds";
import { type Overlay, OVERLAY_KEYS, OVERLAY_TITLES, OVERLAYS, paint } from "./overlays";
import { partsOf } from "./parts";
import { tokensQuery } from "./queries";
import { RewardParts } from "./RewardParts";
import { TokenLegend } from "./TokenLegend";
import { type Tokens, widestGaps } from "./tokens";
import { TokenValues } from "./TokenValues";
import { TokenView } from "./TokenView";
import type { Tags } from "./thinking";

export interface TokensShown {
  overlay: Overlay;
  token: number | null;
  thinkingOpen: boolean;
}

interface Props {
  runId: string;
  row: Rollout;
  tags: Tags | null;
  shown: TokensShown;
  onShow: (change: Partial<TokensShown>) => void;
}

export function SampleTokens(props: Props) {
  const query = useQuery(tokensQuery(props.runId, props.row.id));
  return (
    <Loaded query={query} skeleton={<Skeleton height={420} />}>
      {tokens => <Drawn {...props} tokens={tokens} />}
    </Loaded>
  );
}

function Drawn({ row, tags, shown, onShow, tokens }: Props & { tokens: Tokens }) {
  const [hovered, setHovered] = useState<number | null>(null);
  const wide = useMediaQuery("(min-width: 62em)", true);
  const thinking = useMemo(() => thinkingFold(tokens.texts, tags), [tokens, tags]);
  const painted = useMemo(() => paint(shown.overlay, tokens, row.advantage), [shown.overlay, tokens, row.advantage]);
  const worst = useMemo(() => widestGaps(tokens), [tokens]);
  const inside = thinking && shown.token !== null && shown.token >= thinking.from && shown.token < thinking.to;
  const fold = shown.thinkingOpen || inside ? null : thinking;
  const nextWorst = () => {
    const at = shown.token === null ? -1 : worst.indexOf(shown.token);
    const token = worst[(at + 1) % worst.length];
    if (token !== undefined) onShow({ token, overlay: "gap" });
  };
  useHotkeys([
    ...Object.entries(OVERLAY_KEYS).map(([key, overlay]): [string, () => void] => [key, () => onShow({ overlay })]),
    ["n", nextWorst],
    ["t", () => thinking && onShow({ thinkingOpen: !shown.thinkingOpen })],
  ]);
  const options = OVERLAYS.map(value => ({ value, label: OVERLAY_TITLES[value] }));
  return (
    <div data-testid="sample-tokens">
      <Group gap="xs" mb={6} wrap="wrap">
        {wide ? (
          <SegmentedControl
            size="xs"
            aria-label="Colour tokens by"
            data={options}
            value={shown.overlay}
            onChange={overlay => onShow({ overlay: overlay as Overlay })}
          />
        ) : (
          <Select
            size="xs"
            aria-label="Colour tokens by"
            data={options}
            value={shown.overlay}
            allowDeselect={false}
            onChange={overlay => overlay && onShow({ overlay: overlay as Overlay })}
          />
        )}
        <Tooltip label={worst.length > 0 ? "Token with the next largest gap (n)" : "No token has a gap"}>
          <Button size="compact-sm" variant="default" disabled={worst.length === 0} onClick={nextWorst}>
            Next worst token
          </Button>
        </Tooltip>
        {thinking && (
          <Button
            size="compact-sm"
            variant="subtle"
            onClick={() => onShow({ thinkingOpen: !shown.thinkingOpen, ...(inside && { token: null }) })}
            aria-expanded={fold === null}
            data-testid="fold-thinking"
          >
            {fold ? "Unfold" : "Fold"} thinking
          </Button>
        )}
        <Text size="xs" c="dimmed" ml="auto" className="num">
          {formatCount(tokens.length)} tokens
        </Text>
      </Group>
      <TokenLegend title={OVERLAY_TITLES[shown.overlay]} painted={painted} />
      <TokenView
        tokens={tokens}
        painted={painted}
        fold={fold}
        onUnfold={() => onShow({ thinkingOpen: true })}
        current={shown.token}
        onCurrent={token => onShow({ token })}
        onHover={setHovered}
      />
      <RewardParts
        label={`Parts of the reward of sample ${row.sample + 1}`}
        parts={partsOf(row.reward_parts, row.explanation)}
        told={row.explanation !== null}
      />
      <div style={{ marginTop: 8 }}>
        <TokenValues tokens={tokens} advantage={row.advantage} token={hovered ?? shown.token} />
      </div>
      {wide && (
        <Text size="xs" c="dimmed" mt={6}>
          Keys:{" "}
          {Object.entries(OVERLAY_KEYS).map(([key, overlay]) => (
            <span key={key} style={{ marginRight: 8, whiteSpace: "nowrap" }}>
              <Kbd size="xs">{key}</Kbd> {OVERLAY_TITLES[overlay].toLowerCase()}
            </span>
          ))}
          <span style={{ whiteSpace: "nowrap" }}>
            <Kbd size="xs">n</Kbd> next worst
          </span>
        </Text>
      )}
    </div>
  );
}
