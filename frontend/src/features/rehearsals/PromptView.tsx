/** A prompt as the policy sees it: control tokens stand out, and every token can be told from the next. */
import { Box, Group, Switch, Text } from "@mantine/core";
import { useState } from "react";
import type { RehearsalGroup } from "@/api/model";
import ui from "@/ui/ui.module.css";
import { joined, visible } from "./rehearsal";
import classes from "./rehearsals.module.css";

export function PromptView({ group }: { group: RehearsalGroup }) {
  const [borders, setBorders] = useState(false);
  const parts = borders ? group.pieces.map(piece => ({ ...piece, tokens: 1 })) : joined(group.pieces);
  const half = Math.floor(parts.length / 2);
  return (
    <div>
      <Group justify="space-between" gap="xs" mb={4}>
        <Text size="xs" c="dimmed" className="num">
          Prompt, {group.prompt_tokens} tokens
        </Text>
        <Switch
          size="xs"
          label="Token by token"
          checked={borders}
          onChange={event => setBorders(event.currentTarget.checked)}
        />
      </Group>
      <Box
        component="pre"
        tabIndex={0}
        role="region"
        aria-label="Prompt"
        className={ui.pre}
        data-testid="rehearsal-prompt"
      >
        {parts.map((part, place) => (
          <span key={place}>
            {group.left_out > 0 && place === half && <i> … {group.left_out} tokens are left out … </i>}
            <span className={part.control ? classes.control : borders ? classes.token : undefined}>
              {visible(part.text)}
            </span>
          </span>
        ))}
      </Box>
    </div>
  );
}
