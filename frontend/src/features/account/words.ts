/** Actions of an account's log as people read them. */
const WORDS: Record<string, string> = {
  "account.sign_in": "Signed in",
  "account.sign_in_failed": "Wrong password",
  "account.code_failed": "Correct password, wrong code",
  "account.passkey_failed": "Passkey rejected",
  "account.passkey_add": "Passkey added",
  "account.passkey_remove": "Passkey removed",
  "account.second_factors_removed": "Second factors removed by the operator",
  "account.identity_bound": "First sign-in with the provider",
  "account.totp_on": "Authenticator app turned on",
  "account.totp_off": "Authenticator app turned off",
  "account.recovery_codes": "New recovery codes created",
  "account.recovery_code_used": "Recovery code used",
  "account.sign_out": "Signed out",
  "account.password": "Password changed",
  "account.session_end": "Another session ended",
};

/** The label of an action; its name if this console does not know it. */
export function actionInWords(action: string, count: number): string {
  const words = WORDS[action] ?? action;
  return count > 1 ? `${words}, ${count} times` : words;
}
