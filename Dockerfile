# Both programs and nothing else, for a dev container
#
#   COPY --from=ghcr.io/writbus/writ /usr/local/bin/ /usr/local/bin/
#
# or to run the daemon beside others. The release tool lays the programs of each
# platform ready; test/ci/release.sh builds and runs this file over a base of its own.
ARG BASE=gcr.io/distroless/static-debian12:nonroot
FROM $BASE
ARG TARGETPLATFORM
COPY $TARGETPLATFORM/writ $TARGETPLATFORM/writd /usr/local/bin/
# The log, its keys and its views: without a volume they end with the container. The
# volume is a folder of the image's, which is nonroot's: one made for it were root's.
ENV WRIT_HOME=/home/nonroot/writ
VOLUME ["/home/nonroot"]
ENTRYPOINT ["/usr/local/bin/writ"]
CMD ["--help"]
