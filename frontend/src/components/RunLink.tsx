// A run by its id or another text. A published site has no pages of runs, so there it is only a text.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { paths } from "@/paths";
import { site } from "@/published";
import type { RunSearch } from "@/search";

interface Props {
  runId: string;
  search?: RunSearch;
  className?: string;
  children?: ReactNode;
}

export function RunLink({ runId, search, className, children = runId }: Props) {
  if (site) return <span className={className}>{children}</span>;
  return (
    <Link {...paths.run(runId, search)} className={className}>
      {children}
    </Link>
  );
}
