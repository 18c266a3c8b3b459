# The image of a release: a static binary that is built already, and the certificates of public authorities.
#
#   docker buildx build --file packaging/image.Dockerfile --platform linux/amd64,linux/arm64 FOLDER
#
# FOLDER has amd64/kubectl-informer and arm64/kubectl-informer. No step runs on another platform, so no emulation is needed. The
# Dockerfile in the root of the repository builds from source.
FROM --platform=$BUILDPLATFORM alpine:3 AS certificates
RUN apk add --no-cache ca-certificates

FROM scratch
ARG TARGETARCH
COPY --from=certificates /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --chmod=755 $TARGETARCH/kubectl-informer /kubectl-informer
USER 65532:65532
ENTRYPOINT ["/kubectl-informer"]
