import { Group, SegmentedControl, Text } from "@mantine/core";
import { useState } from "react";
import type { Spec } from "@/api/model";
import { createRunCurl, createRunPython } from "@/api/snippets";
import { CopyIcon } from "@/ui/CopyText";
import { Pre } from "@/ui/Pre";

/** The same request as a program would send it. */
export function CodeTab({ name, spec }: { name: string; spec: Spec }) {
  const [language, setLanguage] = useState("curl");
  const text = language === "curl" ? createRunCurl(name, spec, true) : createRunPython(name, spec, true);
  return (
    <div>
      <Group justify="space-between" mb="xs">
        <SegmentedControl
          size="xs"
          data={[
            { value: "curl", label: "curl" },
            { value: "python", label: "Python" },
          ]}
          value={language}
          onChange={setLanguage}
          aria-label="Language"
        />
        <CopyIcon value={text} label={language === "curl" ? "Copy as curl" : "Copy as Python"} />
      </Group>
      <Pre label="The request" whole>
        {text}
      </Pre>
      <Text size="xs" c="dimmed" mt="xs">
        Create a token under Team → API tokens. The request creates the run and starts it.
      </Text>
    </div>
  );
}
