/** What the node calls itself to others: name/version/platform/runtime. */
export const clientVersionOf = (version: string): string =>
  `basalt/v${version}/${process.platform}-${process.arch}/node${process.versions.node}`
