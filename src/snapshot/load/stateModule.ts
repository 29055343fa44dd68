type Global = { readonly value: number }

/** Exports of `assembly/index.ts`. Its memory never grows. */
export type Exports = {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly rows: Global
  readonly rowBytes: Global
  readonly filled: Global
  readonly input: Global
  readonly inputBytes: Global
  readonly used: Global
  readonly prefix: Global
  readonly slotsLeft: Global
  readonly accountTrie: Global
  readonly slotTrie: Global
  readonly keyAt: Global
  readonly valueAt: Global
  readonly branchesAt: Global
  readonly branchBytes: Global
  readonly childBytes: Global
  readonly openKey: Global
  readonly openCode: Global
  readonly openNonce: Global
  readonly openBalance: Global
  readonly root: Global
  readonly hasOpen: Global
  readonly isEnded: Global
  readonly hasSlots: Global
  readonly accounts: Global
  readonly slots: Global
  readonly bytes: Global
  clearRows(): void
  open(accounts: number, storage: number, accountNodes: number, storageNodes: number, nodeDepth: number, roots: boolean): void
  setPrefix(count: number): void
  beginAccount(key: number): number
  addSlot(key: number, value: number, size: number): number
  presetRoot(): void
  endAccount(): number
  addAccounts(size: number): number
  addSlots(size: number): number
  sealAccounts(depth: number): number
  sealSlots(depth: number): number
  endState(): void
  restore(open: number, ended: number, slotted: number, accounts: number, slots: number, bytes: number): void
}
