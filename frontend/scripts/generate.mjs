// Generates the API client from the service's OpenAPI document.
// With --check it generates beside and compares instead: a stale client is an error.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "@hey-api/openapi-ts";

const frontend = fileURLToPath(new URL("..", import.meta.url));
const input = process.env.KEXBENCH_OPENAPI ?? join(frontend, "../bench-specs/schema/openapi.json");
const target = join(frontend, "src/api/generated");

async function generate(output) {
  await createClient({
    input,
    // The pages read; all they write is what becomes of runs, bisections and alerts, and that a bisection is begun.
    parser: {
      filters: {
        operations: {
          include: [
            "/^GET /",
            "/^POST \\/api\\/v1\\/runs\\/{run_id}\\/(cancel|resume)$/",
            "/^POST \\/api\\/v1\\/bisections$/",
            "/^POST \\/api\\/v1\\/bisections\\/{bisection_id}\\/(cancel|resume)$/",
            "/^POST \\/api\\/v1\\/alerts\\/{alert_id}\\/events$/",
          ],
        },
      },
    },
    output: { path: output },
    plugins: [
      "@hey-api/typescript",
      "@hey-api/sdk",
      "@hey-api/client-fetch",
      { name: "@tanstack/react-query", infiniteQueryOptions: false, mutationOptions: false },
    ],
    logs: { level: "error" },
  });
}

if (process.argv.includes("--check")) {
  const beside = mkdtempSync(join(tmpdir(), "kexbench-client-"));
  try {
    await generate(beside);
    execFileSync("diff", ["-ru", target, beside], { stdio: "inherit" });
  } catch (error) {
    if (error.status !== 1) throw error;
    console.error("src/api/generated is stale: run `npm run generate`");
    process.exitCode = 1;
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
} else {
  await generate(target);
}
