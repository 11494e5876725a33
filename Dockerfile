# The image holds one static binary, root certificates and two empty directories. It runs as an unprivileged user and keeps
# its data, an SQLite file unless COURSEBRIDGE_DATABASE names a PostgreSQL, in /data.
#   docker build --build-arg VERSION="$(git describe --tags --always)" -t coursebridge .
#   docker run -p 8080:8080 -v coursebridge:/data coursebridge
# With Podman or Buildah add --format docker: their own format of images has no health check.
FROM --platform=$BUILDPLATFORM golang:1.26.8-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY documents.go CHANGELOG.md CONTRIBUTING.md SECURITY.md ./
COPY docs ./docs
COPY deploy ./deploy
COPY api ./api
COPY client ./client
COPY cmd ./cmd
COPY internal ./internal
ARG TARGETOS TARGETARCH VERSION=dev
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$VERSION" -o /image/usr/bin/coursebridge ./cmd/coursebridge
RUN install -d -m 0700 /owned/data && install -d -m 1777 /image/tmp && \
    install -D -m 0644 /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/ca-certificates.crt

FROM scratch
LABEL org.opencontainers.image.title=coursebridge \
      org.opencontainers.image.source=https://github.com/coursebridge/coursebridge \
      org.opencontainers.image.licenses=Apache-2.0
COPY --from=build /image/ /
COPY --from=build --chown=65532:65532 /owned/ /
COPY LICENSE THIRD_PARTY_NOTICES.txt /usr/share/doc/coursebridge/
USER 65532:65532
WORKDIR /data
VOLUME /data
ENV COURSEBRIDGE_LISTEN=0.0.0.0:8080
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=6s --start-period=30s CMD ["/usr/bin/coursebridge", "health"]
ENTRYPOINT ["/usr/bin/coursebridge"]
CMD ["serve"]
