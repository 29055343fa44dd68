/** Returns the client version that the node reports: name/version/platform/runtime. */
export const clientVersionOf = (version: string): string =>
  `basalt/v${version}/${process.platform}-${process.arch}/node${process.versions.node}`
