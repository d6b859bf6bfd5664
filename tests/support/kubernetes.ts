/** The Job of the API of Kubernetes, version 1.30, as types made from its OpenAPI description. */
export type { Job } from "npm:kubernetes-types@^1.30/batch/v1.d.ts";
