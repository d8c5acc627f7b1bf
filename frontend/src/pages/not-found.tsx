import { Link } from "@tanstack/react-router";
import { paths } from "@/paths";
import { Empty } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

export function NotFoundPage() {
  useTitle("Not found");
  return (
    <Empty title="There is no such page">
      <p>
        <Link {...paths.home()}>All results</Link> or <Link {...paths.runs()}>all runs</Link>
      </p>
    </Empty>
  );
}
