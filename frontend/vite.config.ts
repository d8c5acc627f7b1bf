import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const service = process.env.KEXBENCH_URL ?? "http://127.0.0.1:8350";

export default defineConfig({
  plugins: [react()],
  // Scripts find each other relative to themselves, since a published site may be in any folder of a server.
  experimental: {
    renderBuiltUrl: (_, { hostType }) => (hostType === "html" ? undefined : { relative: true }),
  },
  resolve: { alias: { "@": fileURLToPath(new URL("src", import.meta.url)) } },
  // The mock API's examples are in bench-specs.
  server: { proxy: { "/api": service }, fs: { allow: [".."] } },
  preview: { proxy: { "/api": service } },
  // A busy machine is no failure.
  test: { include: ["src/**/*.test.{ts,tsx}"], testTimeout: 60_000 },
});
