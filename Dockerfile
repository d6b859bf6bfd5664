# svc in a container. Deno has no build for musl: the base needs glibc.
#   docker build -t svc . && docker run --rm -v "$PWD:/work" svc recipe run quickstart
FROM node:22-bookworm-slim AS build
RUN npm install -g deno@2.9.6
WORKDIR /svc
COPY . .
# Fetches the packages, then builds the package that needs no network.
RUN deno install --frozen --entrypoint mod.ts cli.ts server.ts ui/main.tsx ui/events_worker.ts lib/onnx/sandbox.ts && deno task npm /package

FROM node:22-bookworm-slim
RUN npm install -g deno@2.9.6
COPY --from=build /package /opt/svc
RUN ln -s /opt/svc/bin/svc.mjs /usr/local/bin/svc && mkdir /work && chown node /work
USER node
WORKDIR /work
ENTRYPOINT ["svc"]
