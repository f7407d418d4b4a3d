import { Button, Text, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Problem } from "@/api/http";
import { ErrorState } from "@/ui/ErrorState";
import { Entrance } from "./Entrance";
import { PasskeyButton } from "./PasskeyButton";
import { sessionQuery, useGiveCode } from "./session";

/** The second step of a sign-in: the password was right. */
export function CodeForm({ onDone }: { onDone: () => void }) {
  const [code, setCode] = useState("");
  const client = useQueryClient();
  const give = useGiveCode(onDone);
  const wrong = give.error instanceof Problem && give.error.code === "wrong_code";
  const expired = give.error instanceof Problem && give.error.code === "no_second_step";
  const again = () => {
    give.reset();
    void client.invalidateQueries(sessionQuery);
  };
  return (
    <Entrance title="Second step" onSubmit={() => give.mutate(code)}>
      <Text size="sm" c="dimmed">
        Enter the six-digit code of your authenticator app or a recovery code, or use a passkey.
      </Text>
      {give.error && !wrong && <ErrorState error={give.error} />}
      {expired ? (
        <Button variant="default" onClick={again}>
          Enter the password again
        </Button>
      ) : (
        <>
          <TextInput
            label="Code"
            autoComplete="one-time-code"
            autoCapitalize="off"
            spellCheck={false}
            maxLength={40}
            value={code}
            onChange={event => setCode(event.currentTarget.value)}
            error={wrong ? "The code is wrong, or was used before." : undefined}
            data-autofocus
            required
            withAsterisk={false}
          />
          <Button type="submit" fullWidth mt="xs" loading={give.isPending}>
            Continue
          </Button>
          <PasskeyButton onDone={onDone} />
        </>
      )}
    </Entrance>
  );
}
