import type { PendingOutcome, PendingPort, PendingRefusal } from '#pending/pendingPort'
import type { BlockId } from '#types/blockRef'
import type { Flashblock } from '#types/flashblock'
import { type Hash, zeroAddress, zeroHash } from '#types/ids'
import { type FlashblockLocation, isSameFlashblock } from '#types/pendingBlock'

/** Hash that contains the branch and the block number. */
export const hashAt = (number: number, branch = 'a'): Hash => `0x${branch.repeat(58)}${number.toString(16).padStart(6, '0')}` as Hash
export const blockAt = (number: number, branch?: string): BlockId => ({ number, hash: hashAt(number, branch) })
/** Payload id of a build of a block. `variant` makes builds with the same number differ. */
export const buildAt = (number: number, variant = 1): string =>
  `0x${variant.toString(16).padStart(8, '0')}${number.toString(16).padStart(8, '0')}`

/** Flashblock without transactions. */
export function flashblockAt(number: number, index: number, more: { readonly variant?: number; readonly parent?: Hash } = {}): Flashblock {
  const { variant, parent = hashAt(number - 1) } = more
  const base = {
    parentHash: parent,
    parentBeaconBlockRoot: zeroHash,
    feeRecipient: zeroAddress,
    prevRandao: zeroHash,
    gasLimit: 30_000_000n,
    timestamp: number,
    extraData: new Uint8Array(0),
    baseFee: 1n,
  }
  const outcome = { stateRoot: zeroHash, receiptsRoot: zeroHash, logsBloom: new Uint8Array(256), gasUsed: 0n, withdrawalsRoot: zeroHash }
  return { payloadId: buildAt(number, variant), blockNumber: number, index, ...(index === 0 && { base }), transactions: [], outcome }
}

/** Encodes a flashblock as the message of a publisher. */
export function messageOf({ payloadId, blockNumber, index, base, transactions, outcome }: Flashblock): string {
  const hex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`
  const quantity = (value: number | bigint): string => `0x${value.toString(16)}`
  return JSON.stringify({
    payload_id: payloadId,
    index,
    ...(base && {
      base: {
        parent_beacon_block_root: base.parentBeaconBlockRoot,
        parent_hash: base.parentHash,
        fee_recipient: base.feeRecipient,
        prev_randao: base.prevRandao,
        block_number: quantity(blockNumber),
        gas_limit: quantity(base.gasLimit),
        timestamp: quantity(base.timestamp),
        extra_data: hex(base.extraData),
        base_fee_per_gas: quantity(base.baseFee),
      },
    }),
    diff: {
      state_root: outcome.stateRoot,
      receipts_root: outcome.receiptsRoot,
      logs_bloom: hex(outcome.logsBloom),
      gas_used: quantity(outcome.gasUsed),
      block_hash: zeroHash,
      transactions: transactions.map(hex),
      withdrawals: [],
      withdrawals_root: outcome.withdrawalsRoot,
    },
    metadata: { block_number: blockNumber },
  })
}

/** Model of the port that executes flashblocks; it executes nothing. */
export type PendingModel = PendingPort & {
  readonly head: BlockId
  /** Pending blocks, oldest first. */
  readonly blocks: readonly FlashblockLocation[]
  readonly executed: FlashblockLocation | undefined
  readonly freshUntilMs: number
  readonly drops: readonly string[]
  /** Accepted flashblocks as `number.index`, in the order of execution. */
  readonly took: readonly string[]
  /** Sets a new head. Pending blocks above it are kept or dropped, by `keeps`. */
  setHead(head: BlockId, keeps?: 'above' | 'nothing'): void
  /** Sets a function that refuses the next flashblocks, or undefined to accept one. */
  refuse(refusal: (flashblock: Flashblock) => PendingRefusal | undefined): void
}

export function modelPending(start: BlockId): PendingModel {
  let head = start
  let blocks: FlashblockLocation[] = []
  let freshUntilMs = 0
  let refusalOf: (flashblock: Flashblock) => PendingRefusal | undefined = () => undefined
  const drops: string[] = []
  const took: string[] = []

  /** Whether a flashblock can be executed on the present head and blocks. */
  function fits({ blockNumber, payloadId, index, base }: Flashblock): boolean {
    const last = blocks.at(-1)
    if (index > 0) return last?.payloadId === payloadId && last.number === blockNumber && last.index === index - 1
    if (blockNumber === head.number + 1) return base?.parentHash === head.hash
    return blockNumber <= head.number + 3 && blocks.some(({ number }) => number === blockNumber - 1)
  }

  function refusalAt(flashblock: Flashblock, after: FlashblockLocation | undefined): PendingRefusal | undefined {
    const refusal = refusalOf(flashblock)
    if (refusal !== undefined) return refusal
    if (fits(flashblock)) return undefined
    if (!isSameFlashblock(after, blocks.at(-1))) return 'order'
    throw new Error(`flashblock ${flashblock.index} of block ${flashblock.blockNumber} was placed wrongly`)
  }

  return {
    drops,
    took,
    get head() {
      return head
    },
    get blocks() {
      return blocks
    },
    get executed() {
      return blocks.at(-1)
    },
    get freshUntilMs() {
      return freshUntilMs
    },
    async take(flashblock, after, untilMs): Promise<PendingOutcome> {
      const { blockNumber: number, payloadId, index } = flashblock
      const reason = refusalAt(flashblock, after)
      if (reason !== undefined) {
        const isAtFault = ['rules', 'transaction', 'outcome', 'time'].includes(reason)
        if (isAtFault) blocks = blocks.filter((block) => block.number < number)
        return { kind: 'refused', reason, text: reason }
      }
      blocks = [...blocks.filter((block) => block.number < number), { number, payloadId, index }]
      freshUntilMs = untilMs
      took.push(`${number}.${index}`)
      return { kind: 'taken', gasUsed: 0n }
    },
    async drop(reason): Promise<void> {
      blocks = []
      drops.push(reason)
    },
    setHead(next, keeps = 'above'): void {
      head = next
      blocks = keeps === 'above' ? blocks.filter(({ number }) => number > next.number) : []
    },
    refuse(refusal): void {
      refusalOf = refusal
    },
  }
}
