import { Link } from "@tanstack/react-router";
import { paths } from "@/paths";
import { site } from "@/published";
import { useTitle } from "@/ui/title";

export function NotFoundPage() {
  useTitle("Not found");
  return (
    <>
      <h1>Page not found</h1>
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
    </>
  );
}
