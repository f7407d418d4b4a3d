import { Anchor, Breadcrumbs } from "@mantine/core";
import { Link } from "@tanstack/react-router";

/** From a list to one of its members. */
export function Crumbs({
  to,
  label,
  here,
}: {
  to: "/rewards" | "/datasets" | "/policies";
  label: string;
  here: string;
}) {
  return (
    <Breadcrumbs mb={4} fz="xs" separatorMargin={6}>
      <Anchor component={Link} to={to} size="xs">
        {label}
      </Anchor>
      <span className="mono" style={{ overflowWrap: "anywhere", whiteSpace: "normal" }}>
        {here}
      </span>
    </Breadcrumbs>
  );
}
