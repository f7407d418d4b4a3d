/** The authenticator app of one's account, and its recovery codes. */
import { Button, Group, Paper, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import * as api from "@/api/client";
import type { SecondFactors } from "@/api/model";
import { sessionQuery } from "@/features/session/session";
import { formatTime } from "@/lib/format";
import { Loaded } from "@/ui/Loaded";
import { EnrolApp } from "./EnrolApp";
import { Passkeys } from "./Passkeys";
import { ProofForm } from "./ProofForm";
import { secondFactorsQuery } from "./queries";
import { RecoveryCodes } from "./RecoveryCodes";

export function SecondFactor() {
  const factors = useQuery(secondFactorsQuery);
  const client = useQueryClient();
  const [codes, setCodes] = useState<string[]>([]);
  const refresh = async () => {
    await client.invalidateQueries({ queryKey: ["account"] });
    await client.invalidateQueries(sessionQuery);
  };
  return (
    <Paper p="md" maw={560}>
      {codes.length > 0 && <RecoveryCodes codes={codes} onClose={() => setCodes([])} />}
      <Loaded query={factors}>
        {own =>
          own.totp_since ? (
            <App own={own} onCodes={setCodes} onChanged={refresh} />
          ) : (
            <EnrolApp onCodes={setCodes} onChanged={refresh} />
          )
        }
      </Loaded>
      <Passkeys origin={factors.data?.passkey_origin ?? null} onCodes={setCodes} onChanged={refresh} />
    </Paper>
  );
}

const renew = async (proof: Proof) => (await api.renewRecoveryCodes(proof)).recovery_codes;
const turnOff = async (proof: Proof): Promise<string[]> => {
  await api.turnTotpOff(proof);
  return [];
};

interface Proof {
  current: string;
  code: string;
}

interface Props {
  own: SecondFactors;
  onCodes: (codes: string[]) => void;
  onChanged: () => Promise<void>;
}

function App({ own, onCodes, onChanged }: Props) {
  const [wanted, setWanted] = useState<"off" | "codes" | null>(null);
  const done = async (codes: string[]) => {
    setWanted(null);
    onCodes(codes);
    await onChanged();
  };
  return (
    <Stack gap="sm">
      <Text size="sm">
        Your authenticator app is on{own.totp_since && <> since {formatTime(own.totp_since)}</>}. {own.recovery_codes}{" "}
        recovery codes left.
      </Text>
      {wanted === null ? (
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={() => setWanted("codes")}>
            New recovery codes
          </Button>
          <Button size="xs" variant="default" color="red" onClick={() => setWanted("off")}>
            Turn off
          </Button>
        </Group>
      ) : (
        <ProofForm
          act={wanted === "codes" ? renew : turnOff}
          label={wanted === "codes" ? "Create new codes" : "Turn off app"}
          danger={wanted === "off"}
          onDone={done}
          onCancel={() => setWanted(null)}
        />
      )}
    </Stack>
  );
}
