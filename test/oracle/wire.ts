import type { Hex } from '#lib/hex'

/** Forks of the oracle, in order; each case runs under one of them. */
export const oracleForks = ['regolith', 'canyon', 'ecotone', 'fjord', 'granite', 'holocene', 'isthmus', 'jovian', 'azul'] as const
export type OracleFork = (typeof oracleForks)[number]

/** Account in JSON; slots by number. */
export type WireAccount = {
  readonly nonce: Hex
  readonly balance: Hex
  readonly code: Hex
  readonly storage: Readonly<Record<string, Hex>>
}

export type WireAuthorization = {
  readonly chainId: Hex
  readonly address: string
  readonly nonce: Hex
  readonly yParity: Hex
  readonly r: Hex
  readonly s: Hex
}

/** Call as in a node's RPC, on the state before the block. */
export type WireCall = {
  readonly from: string
  readonly to: string | null
  readonly value: Hex
  readonly data: Hex
  readonly gasLimit: Hex
  readonly gasPrice: Hex
  readonly accessList: readonly { readonly address: string; readonly storageKeys: readonly string[] }[]
  readonly authorizationList: readonly WireAuthorization[]
}

/** One input line of the oracle. The hash of block N is the keccak of N in decimal digits. */
export type WireCase = {
  readonly fork: OracleFork
  readonly block: {
    readonly number: Hex
    readonly timestamp: Hex
    readonly beneficiary: string
    readonly prevRandao: string
    readonly gasLimit: Hex
    readonly baseFee: Hex
    readonly parentHash: string
    readonly parentBeaconBlockRoot: string
  }
  readonly accounts: Readonly<Record<string, WireAccount>>
  /** EIP-2718 bytes. */
  readonly transactions: readonly Hex[]
  readonly calls?: readonly WireCall[]
}

/** Result of a transaction; `receipt` is its EIP-2718 bytes. */
export type WireTransactionEnd =
  | { readonly refused: string }
  | { readonly succeeded: boolean; readonly gasUsed: Hex; readonly logs: readonly WireLog[]; readonly receipt: Hex }
export type WireLog = { readonly address: string; readonly topics: readonly string[]; readonly data: Hex }

/** Result of a call; its gas is the gas that the caller pays for. */
export type WireCallEnd = { readonly refused: string } | { readonly kind: string; readonly gasUsed: Hex; readonly output: Hex }

/** One output line of the oracle: the results of each transaction and the block, and all accounts after the block. */
export type WireAnswer = {
  readonly transactions: readonly WireTransactionEnd[]
  readonly block: { readonly gasUsed: Hex; readonly blobGasUsed: Hex; readonly logsBloom: Hex }
  readonly accounts: Readonly<Record<string, WireAccount>>
  readonly calls?: readonly WireCallEnd[]
}

/** Stored case with the oracle's result. */
export type KeptCase = { readonly about: string; readonly case: WireCase; readonly answer: WireAnswer }
