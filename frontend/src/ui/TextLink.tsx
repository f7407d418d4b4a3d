import { Anchor, type AnchorProps } from "@mantine/core";
import { createLink } from "@tanstack/react-router";
import type { AnchorHTMLAttributes, Ref } from "react";

type Props = AnchorProps & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, "style"> & { ref?: Ref<HTMLAnchorElement> };

/** A link in text with typed path and search. */
export const TextLink = createLink((props: Props) => <Anchor {...props} />);
