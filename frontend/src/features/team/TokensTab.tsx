/** Tokens of programs with their owners, and the service accounts that may own some. */
import { Alert, Button, Group, Text } from "@mantine/core";
import { IconAlertTriangle, IconKey } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { NewToken } from "@/api/model";
import { Loaded } from "@/ui/Loaded";
import { Nothing } from "@/ui/Nothing";
import { tokenOptionsQuery, tokensQuery } from "./queries";
import { Secret } from "@/ui/Secret";
import { ServiceAccounts } from "./ServiceAccounts";
import { TokenForm } from "./TokenForm";
import { TokensTable } from "./TokensTable";

export function TokensTab() {
  const tokens = useQuery(tokensQuery);
  const options = useQuery(tokenOptionsQuery);
  const client = useQueryClient();
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<NewToken | null>(null);
  const refresh = () => {
    void client.invalidateQueries({ queryKey: ["tokens"] });
    void client.invalidateQueries({ queryKey: ["service-accounts"] });
  };
  const onMade = (token: NewToken) => {
    setMaking(false);
    setMade(token);
    refresh();
  };
  return (
    <>
      {made?.secret && <Secret title={`Token “${made.name}”`} value={made.secret} onClose={() => setMade(null)} />}
      {making && options.data && <TokenForm options={options.data} onMade={onMade} onClose={() => setMaking(false)} />}
      <Group justify="space-between" mb="md" gap="xs">
        <Text size="sm" c="dimmed" flex={1} miw={220}>
          A token lets a program act in this team within its role and scopes, never beyond its owner&apos;s current
          role, until it expires.
        </Text>
        <Button
          variant="default"
          leftSection={<IconKey size={15} />}
          onClick={() => setMaking(true)}
          disabled={!options.data}
          data-testid="add-token"
        >
          New token
        </Button>
      </Group>
      <Loaded query={tokens}>
        {({ data: rows }) => (
          <>
            {rows.some(token => token.owner.kind === "nobody") && (
              <Alert color="yellow" icon={<IconAlertTriangle size={18} />} mb="md" p="xs" data-testid="nobodys-tokens">
                Some tokens have no owner: they were created before tokens had owners. They work until they expire.
                Assign each to a service account, or revoke it.
              </Alert>
            )}
            {rows.length === 0 ? <Nothing>No tokens yet.</Nothing> : <TokensTable rows={rows} onChanged={refresh} />}
          </>
        )}
      </Loaded>
      <ServiceAccounts onChanged={refresh} />
    </>
  );
}
