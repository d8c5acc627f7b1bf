// The names of nodes, each with a link to the page that shows what is wrong with it.
import { Link } from "@tanstack/react-router";
import { Fragment } from "react";
import { paths } from "@/paths";

export function NodeLinks({ pool, nodes }: { pool: string | undefined; nodes: string[] }) {
  return nodes.map((node, index) => (
    <Fragment key={node}>
      {index > 0 && ", "}
      <Link {...paths.fleet({ pool, node })}>{node}</Link>
    </Fragment>
  ));
}
