/** Gas prices by purpose. Static prices of opcodes are in the opcode table. */
export const gas = {
  /** Per word of CALLDATACOPY, CODECOPY and the other copies. */
  copyWord: 3,
  keccakWord: 6,
  expByte: 50,
  log: 375,
  logTopic: 375,
  logByte: 8,
  /** EIP-2929 */
  coldAccount: 2_600,
  coldSlot: 2_100,
  warm: 100,
  /** EIP-2200, EIP-3529 */
  storeSentry: 2_300,
  storeSet: 20_000,
  storeReset: 2_900,
  storeClearRefund: 4_800,
  callValue: 9_000,
  callStipend: 2_300,
  newAccount: 25_000,
  create: 32_000,
  codeByte: 200,
  /** EIP-3860 */
  initcodeWord: 2,
} as const

/** Bytes; EIP-170. */
export const maxCodeSize = 24_576
/** Bytes; EIP-3860. */
export const maxInitcodeSize: number = 2 * maxCodeSize
/** Maximum number of frames below the first one. */
export const maxDepth = 1_024
