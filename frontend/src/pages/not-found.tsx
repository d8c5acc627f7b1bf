import { Link } from "@tanstack/react-router";
import { paths } from "@/paths";
import { site } from "@/published";
import { Empty } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

export function NotFoundPage() {
  useTitle("Not found");
  return (
    <Empty title="Page not found">
      <p>
        See <Link {...paths.home()}>all results</Link>
        {!site && (
          <>
            {" "}
            or <Link {...paths.runs()}>all runs</Link>
          </>
        )}
        .
      </p>
    </Empty>
  );
}
