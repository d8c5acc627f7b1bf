// A number that leads to its batches. A published site has no batches, so there it is only a number.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { paths } from "@/paths";
import { site } from "@/published";
import type { DistributionSearch } from "@/search";

interface Props {
  search: DistributionSearch;
  label?: string;
  children: ReactNode;
}

export function BatchesLink({ search, label, children }: Props) {
  if (site) return children;
  return (
    <Link {...paths.distribution(search)} aria-label={label}>
      {children}
    </Link>
  );
}
