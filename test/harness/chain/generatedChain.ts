import { genesisBlock } from '#block/genesisBlock'
import { createExecution, type Execution } from '#blockchain/execution'
import { parseBaseGenesisNote } from '#chainspec/baseGenesis'
import { firstDenimBlock, timestampOf } from '#chainspec/blockTime'
import type { Genesis } from '#chainspec/genesis'
import { l2RefOf, systemConfigOf } from '#chainspec/l2Ref'
import { type RollupConfig, toRollupJson } from '#chainspec/rollupConfig'
import { framesOf } from '#derive/batchEncoder'
import { encodeFrames } from '#derive/codec/frame'
import type { L1Block, SafeBlock, SafeHead } from '#derive/ports'
import type { L1Recording } from '#devnet/recordedL1'
import { systemClock } from '#lib/clock'
import { toQuantity } from '#lib/hex'
import { silentLog } from '#lib/log'
import type { Kv } from '#store/ports'
import { channelOf } from '#test/harness/derive/channels'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { parseAddress } from '#types/ids'
import type { PayloadAttributes } from '#types/payload'
import { TransactionList } from '../../../src/derive/codec/transactionList.ts'
import { payloadAttributes } from '../../../src/derive/rules/payloadAttributes.ts'
import { addressOf, keyOf, l1Transaction, sign } from '../derive/l1.ts'
import { createL1Chain, type L1Chain } from '../l1/chain.ts'
import { systemConfigWith } from '../l1/systemConfig.ts'

const genesisTimeSec = 1_760_000_000
const [l1BlockSec, l2BlockSec, l2ChainId, l1ChainId] = [12, 2, 90_099, 900]
const inbox = parseAddress(`0xff${'00'.repeat(18)}99`)
/** Number of L1 blocks whose L2 blocks share a channel. */
const l1BlocksPerChannel = 5
/** Number of blocks between two commits. */
const commitEvery = 64

/** Base's forks in seconds after genesis. */
export type BaseForkOffsets = Readonly<Partial<Record<'azul' | 'beryl' | 'cobalt' | 'denim', number>>>

/** Azul and all earlier forks, from the first block on. */
const azulOnly: BaseForkOffsets = { azul: l2BlockSec }

/** Settings of a chain; absent ones have the values of a chain without Base's later forks. */
export type GeneratedOptions = { readonly forks?: BaseForkOffsets; readonly sequencingWindowBlocks?: number }

/** Genesis with all forks up to Jovian active from the first block on, and Base's forks by their offsets. The account 'admin' may activate features. */
export function genesisNote(forks = azulOnly): {
  config: Record<string, unknown>
  genesisTimestamp: number
  extraAlloc: Record<string, unknown>
} {
  const first = genesisTimeSec + l2BlockSec
  const times = { ecotoneTime: first, fjordTime: first, graniteTime: first, holoceneTime: first, isthmusTime: first, jovianTime: first }
  return {
    config: {
      chainId: l2ChainId,
      bedrockBlock: 0,
      regolithTime: 0,
      canyonTime: genesisTimeSec,
      deltaTime: genesisTimeSec,
      ...times,
      base: Object.fromEntries(Object.entries(forks).map(([fork, offsetSec]) => [fork, genesisTimeSec + offsetSec])),
      ...(forks.beryl !== undefined && { activationAdminAddress: addressOf('admin') }),
      optimism: { eip1559Elasticity: 6, eip1559Denominator: 50, eip1559DenominatorCanyon: 250 },
    },
    genesisTimestamp: genesisTimeSec,
    extraAlloc: Object.fromEntries(
      ['user', ...(forks.beryl === undefined ? [] : ['admin'])].map((name) => [addressOf(name), { balance: toQuantity(10n ** 24n) }]),
    ),
  }
}

/** Generated chain. No other client has executed it: it shows that runs agree with each other, not that they are right. */
export type GeneratedChain = {
  readonly config: RollupConfig
  readonly genesis: Genesis
  readonly execution: Execution
  readonly l1: L1Chain
}

/** Returns the chain with its genesis block only. */
export function emptyChain(kv: Kv, { forks, sequencingWindowBlocks = 3_600 }: GeneratedOptions = {}): GeneratedChain {
  const note = genesisNote(forks)
  const { genesis } = parseBaseGenesisNote(note)
  const l1 = createL1Chain({ chainId: l1ChainId, genesisTimeSec, blockTimeSec: l1BlockSec })
  const origin = l1.blocks[0]
  if (!origin || !genesis.chain?.eip1559) throw new Error('no genesis')
  const schedule = { bedrock: 0, ...genesis.chain.schedule, delta: genesisTimeSec }
  const { header, hash } = genesisBlock(genesis, schedule)
  const config: RollupConfig = {
    genesis: {
      l1: { hash: origin.ref.hash, number: 0 },
      l2: { hash, number: 0 },
      l2TimeSec: genesisTimeSec,
      systemConfig: systemConfigWith({ batcher: addressOf('batcher'), overhead: 188n, scalar: 684_000n, gasLimit: header.gasLimit }),
    },
    blockTimeSec: l2BlockSec,
    maxSequencerDriftSec: 600,
    sequencingWindowBlocks,
    channelTimeoutBlocks: 300,
    channelTimeoutGraniteBlocks: 50,
    l1ChainId,
    l2ChainId,
    schedule,
    batchInbox: inbox,
    depositContract: parseAddress(`0x${'bb'.repeat(20)}`),
    l1SystemConfig: parseAddress(`0x${'cc'.repeat(20)}`),
    eip1559: genesis.chain.eip1559,
  }
  const execution = createExecution({
    kv,
    evm: sharedEvm,
    config,
    genesis: () => genesis,
    clock: systemClock,
    log: silentLog,
  })
  return { config, genesis, execution, l1 }
}

/** Returns the transactions of a block; `sent` has the next nonce of the account 'user'. */
export type TransactionsOf = (number: number, sent: { nonce: number }) => readonly Uint8Array[]

/** Transfers for every tenth block. */
export function transfersOf(number: number, sent: { nonce: number }): readonly Uint8Array[] {
  if (number % 10 !== 0) return []
  return Array.from({ length: 10 }, (_, i) => {
    const to = parseAddress(`0x${(number * 10 + i).toString(16).padStart(40, 'a')}`)
    const tx = {
      type: 2,
      chainId: BigInt(l2ChainId),
      nonce: BigInt(sent.nonce++),
      gasLimit: 21_000n,
      to,
      value: 1n,
      data: new Uint8Array(0),
    }
    return sign({ ...tx, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n, accessList: [] } as never, keyOf('user'))
  })
}

/** Sequences blocks while L1 grows. Each L1 block contains the transactions that `post` returns for the blocks since the last call. */
export async function extendChain(
  chain: GeneratedChain,
  blocks: number,
  post?: (made: readonly SafeBlock[]) => readonly Uint8Array[],
  transactionsOf: TransactionsOf = transfersOf,
): Promise<void> {
  const { config, execution, l1 } = chain
  const sent = { nonce: 0 }
  const genesis = await execution.payload(0)
  if (!genesis) throw new Error('no genesis')
  let head: SafeHead = { ref: l2RefOf(config, genesis), systemConfig: systemConfigOf(config, genesis) }
  let waiting: SafeBlock[] = []
  const label = async (): Promise<void> =>
    execution.setHeads({ unsafe: head.ref, safe: head.ref, finalized: (await execution.heads()).finalized })
  for (let number = 1; number <= blocks; number++) {
    const originNumber = Math.floor((timestampOf(config, number) - genesisTimeSec) / l1BlockSec)
    if (originNumber === l1.blocks.length) {
      const isDue = l1.blocks.length % l1BlocksPerChannel === 0
      l1.mine({ transactions: isDue && post ? post(waiting) : [] })
      if (isDue) waiting = []
    }
    const attributes = attributesOf(config, head, l1.blocks[originNumber], transactionsOf(number, sent))
    const built = await execution.build(head.ref, attributes)
    if (built.kind === 'invalid') throw new Error(built.reason)
    head = { ref: l2RefOf(config, built.payload), systemConfig: systemConfigOf(config, built.payload) }
    waiting.push({ ref: head.ref, transactions: built.payload.transactions })
    if (number % commitEvery === 0) await label()
  }
  await label()
  l1.mine({ transactions: post ? post(waiting) : [] })
}

function attributesOf(
  config: RollupConfig,
  head: SafeHead,
  origin: L1Block | undefined,
  transactions: readonly Uint8Array[],
): PayloadAttributes {
  if (!origin) throw new Error('no L1 origin')
  const epoch = { ...origin.ref, header: origin.header, deposits: [], configReceipts: [] }
  const attributes = payloadAttributes(config, head, epoch, TransactionList.of(transactions))
  if (typeof attributes === 'string') throw new Error(attributes)
  return attributes
}

/** Input of a node in another process, and the head that it must reach. */
export type PostedChain = {
  readonly recording: L1Recording
  readonly rollupJson: unknown
  readonly genesisNote: unknown
  readonly head: { readonly number: number; readonly hash: string }
}

/** Returns batcher transactions with these blocks: those before Denim in a span, Denim blocks in single batches. */
export function postedBy(config: RollupConfig): (made: readonly SafeBlock[]) => readonly Uint8Array[] {
  const firstDenim = firstDenimBlock(config)
  let channels = 0
  return (made) =>
    (['span', 'singular'] as const).flatMap((batches) => {
      const blocks = made.filter(({ ref }) => ref.number < firstDenim === (batches === 'span'))
      if (blocks.length === 0) return []
      const id = `0x${(++channels).toString(16).padStart(32, '0')}` as const
      const frames = framesOf(id, channelOf(config, blocks, { batches, compression: 'brotli' }), { kind: 'calldata', maxBytes: 100_000 })
      return frames.map((frame) => l1Transaction({ to: config.batchInbox, data: encodeFrames([frame]) }))
    })
}

/** Generates a chain whose blocks are on L1: span batches before Denim, brotli, calldata. */
export async function generatePostedChain(blocks: number, forks?: BaseForkOffsets): Promise<PostedChain> {
  await using kv = createMemoryKv()
  const chain = emptyChain(kv, forks && { forks })
  await extendChain(chain, blocks, postedBy(chain.config))
  const { number, hash } = chain.execution.published.heads.safe
  return {
    recording: chain.l1.recording(),
    rollupJson: toRollupJson(chain.config),
    genesisNote: genesisNote(forks),
    head: { number, hash },
  }
}
