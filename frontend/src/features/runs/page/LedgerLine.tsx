/** What became of the prompts that a run has drawn; nothing before its first step. */
import { Text, Tooltip } from "@mantine/core";
import type { Run } from "@/api/model";
import { ledgerHint, ledgerLine } from "./ledger";

export function LedgerLine({ run }: { run: Run }) {
  if (!run.ledger) return null;
  const hint = ledgerHint(run.ledger);
  return (
    <Tooltip label={hint} multiline maw={360} events={{ hover: true, focus: false, touch: true }}>
      <Text size="xs" c="dimmed" mb={6} className="num" data-testid="prompt-ledger">
        Prompts: {ledgerLine(run.ledger)}
        <span className="sr-only"> {hint}</span>
      </Text>
    </Tooltip>
  );
}
