import type { ChainReader, Executor, RollupNode } from './ports.ts'

/** One running call, as the method sees it. */
export type Ticket = {
  /** nobody waits for the answer any more: work in slices stops */
  readonly isCancelled: boolean
}
export type CallContext = { readonly ticket: Ticket }

export type EthLimits = {
  /** gas of an eth_call that names none, and the most it may name */
  readonly callGas: bigint
  /** blocks of one eth_getLogs */
  readonly logBlocks: number
  /** logs of one eth_getLogs over several blocks */
  readonly logResults: number
}

/** As Base's execution client has them. */
export const defaultEthLimits: EthLimits = { callGas: 50_000_000n, logBlocks: 100_000, logResults: 20_000 }

/** What the methods of the execution half get. */
export type EthContext = CallContext & {
  readonly chain: ChainReader
  readonly executor: Executor
  readonly chainId: number
  /** name/version/platform/runtime */
  readonly clientVersion: string
  readonly limits: EthLimits
}

/** What the methods of the consensus half get. */
export type RollupContext = CallContext & { readonly rollup: RollupNode; readonly version: string }
