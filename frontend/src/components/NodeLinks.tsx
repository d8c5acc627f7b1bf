// The names of nodes, each with a link to the page that shows what is wrong with it. Of many, the first few are named.
import { Link } from "@tanstack/react-router";
import { Fragment } from "react";
import { count } from "@/format";
import { paths } from "@/paths";

const NAMED = 6;

export function NodeLinks({ pool, nodes }: { pool: string | undefined; nodes: string[] }) {
  const named = nodes.length > NAMED ? nodes.slice(0, NAMED - 1) : nodes;
  const others = nodes.length - named.length;
  return (
    <>
      {named.map((node, index) => (
        <Fragment key={node}>
          {index > 0 && ", "}
          <Link {...paths.fleet({ pool, node })}>{node}</Link>
        </Fragment>
      ))}
      {others > 0 && (
        <>
          {" "}
          and <Link {...paths.fleet({ pool })}>{count(others, "other node")}</Link>
        </>
      )}
    </>
  );
}
