import { timestampOf } from '#chainspec/blockTime'
import { applyConfigUpdates } from '#chainspec/configUpdate'
import { userDeposits } from '#chainspec/deposits'
import type { ForkSchedule } from '#chainspec/forks'
import { isActive } from '#chainspec/forks'
import { l1AttributesIn, l2RefOf, systemConfigOf } from '#chainspec/l2Ref'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { SystemConfig } from '#chainspec/systemConfig'
import { type BatchForm, type Carrier, framesOf } from '#derive/batchEncoder'
import { encodeFrames } from '#derive/codec/frame'
import { depositsOnly } from '#derive/depositsOnly'
import { createPipeline } from '#derive/pipeline'
import type { DerivedAttributes, L1Block, Pipeline, SafeBlock, SafeHead, StartPoint } from '#derive/ports'
import { bytesFromBigint, concatBytes } from '#lib/bytes'
import { fromHex, type Hex, toHex } from '#lib/hex'
import { keccak256, keccak256Of } from '#lib/keccak'
import { silentLog } from '#lib/log'
import { blobOf, channelOf } from '#test/harness/derive/channels'
import { type Address, emptyRoot, type Hash, hashFromBytes, parseAddress, zeroHash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import { TransactionList } from '../../../src/derive/codec/transactionList.ts'
import { payloadAttributes } from '../../../src/derive/rules/payloadAttributes.ts'
import { systemConfigWith } from '../l1/systemConfig.ts'
import { DeriveDriver, type Halt } from './driver.ts'
import { addressOf, keyOf, l1Transaction, type MinedBlock, mineL1, sign } from './l1.ts'

export const genesisTimeSec = 1_700_000_000
const l1BlockSec = 12
export const inbox: Address = parseAddress(`0xff${'00'.repeat(18)}01`)
export const portal: Address = parseAddress(`0x${'bb'.repeat(20)}`)
export const configContract: Address = parseAddress(`0x${'cc'.repeat(20)}`)

const systemConfig = systemConfigWith({ batcher: addressOf('batcher'), overhead: 188n, scalar: 684_000n })

/** Schedule with all forks up to the given one active at genesis. */
export function forksTo(last: keyof ForkSchedule): ForkSchedule {
  const all = ['bedrock', 'regolith', 'canyon', 'delta', 'ecotone', 'fjord', 'granite', 'holocene', 'isthmus', 'jovian'] as const
  return Object.fromEntries(all.slice(0, all.indexOf(last as (typeof all)[number]) + 1).map((fork) => [fork, 0]))
}

/** Transaction that a span batch can encode. The execution stub rejects those of account 'bad'. */
export function userTransaction(nonce: number, from = 'user'): Uint8Array {
  const tx = { type: 2, chainId: 90_001n, nonce: BigInt(nonce), gasLimit: 21_000n, to: inbox, value: 1n, data: new Uint8Array(0) }
  return sign({ ...tx, maxFeePerGas: 9n, maxPriorityFeePerGas: 1n, accessList: [] } as never, keyOf(from))
}

/** Transaction that a batch may contain but a block may not. */
export const badTransaction: Uint8Array = userTransaction(666, 'bad')

/** Block in place of an executed one: its hash covers its attributes. */
export function stubBlock(
  config: RollupConfig,
  parent: SafeHead,
  attributes: PayloadAttributes,
): { head: SafeHead; payload: Payload } | 'invalid' {
  if (attributes.transactions.some((raw) => toHex(raw) === toHex(badTransaction))) return 'invalid'
  const { eip1559Params, minBaseFee } = attributes
  const params = eip1559Params?.some((byte) => byte !== 0) ? eip1559Params : Uint8Array.of(0, 0, 0, 250, 0, 0, 0, 6)
  const extraData = eip1559Params
    ? concatBytes(
        Uint8Array.of(minBaseFee === undefined ? 0 : 1),
        params,
        minBaseFee === undefined ? new Uint8Array(0) : bytesFromBigint(minBaseFee, 8),
      )
    : new Uint8Array(0)
  const number = parent.ref.number + 1
  const blockHash = hashFromBytes(
    keccak256Of(fromHex(parent.ref.hash), bytesFromBigint(BigInt(attributes.timestamp), 8), extraData, ...attributes.transactions),
  )
  const payload: Payload = {
    parentHash: parent.ref.hash,
    feeRecipient: attributes.suggestedFeeRecipient,
    stateRoot: emptyRoot,
    receiptsRoot: emptyRoot,
    logsBloom: new Uint8Array(256),
    prevRandao: attributes.prevRandao,
    blockNumber: number,
    gasLimit: attributes.gasLimit,
    gasUsed: 0n,
    timestamp: attributes.timestamp,
    extraData,
    baseFeePerGas: 1n,
    blockHash,
    transactions: attributes.transactions,
    ...(attributes.withdrawals && { withdrawals: attributes.withdrawals }),
    ...(attributes.parentBeaconBlockRoot && { parentBeaconBlockRoot: attributes.parentBeaconBlockRoot }),
  }
  return { head: { ref: l2RefOf(config, payload), systemConfig: systemConfigOf(config, payload) }, payload }
}

/** Head that a faulty sequencer builds on after a block that other nodes reject. */
function faultyHead({ ref, systemConfig: inForce }: SafeHead, l1: L1Block, { timestamp }: PayloadAttributes): SafeHead {
  const l1Origin = { hash: l1.ref.hash, number: l1.ref.number }
  const sequenceNumber = ref.l1Origin.number === l1Origin.number ? ref.sequenceNumber + 1 : 0
  const hash = hashFromBytes(keccak256(fromHex(ref.hash)))
  return { ref: { hash, number: ref.number + 1, parentHash: ref.hash, timestamp, l1Origin, sequenceNumber }, systemConfig: inForce }
}

export type Sequenced = SafeBlock & { readonly head: SafeHead; readonly attributes?: PayloadAttributes }

const singular: BatchForm = { batches: 'singular', compression: 'zlib' }

/** A small L1, a sequencer, a batcher and a pipeline, in memory. L1 blocks are 12 s apart, L2 blocks 2 s. */
export class DeriveWorld {
  readonly config: RollupConfig
  readonly l1: L1Block[] = []
  /** Blocks of the sequencer, genesis first. */
  blocks: Sequenced[]
  readonly blobs = new Map<Hash, Uint8Array>()
  readonly safeBlocks = new Map<number, SafeBlock>()
  pipeline: Pipeline
  driver: DeriveDriver
  #channels = 0
  readonly #history: DeriveDriver['history'] = []

  constructor(schedule: ForkSchedule, changes: Partial<RollupConfig> = {}) {
    const genesis = mineL1(undefined, genesisTimeSec, {})
    this.l1.push(genesis)
    const l2 = { hash: hashFromBytes(keccak256(new Uint8Array(1))), number: 0 }
    this.config = {
      genesis: { l1: genesis.ref, l2, l2TimeSec: genesisTimeSec, systemConfig },
      blockTimeSec: 2,
      maxSequencerDriftSec: 600,
      sequencingWindowBlocks: 3600,
      channelTimeoutBlocks: 300,
      channelTimeoutGraniteBlocks: 50,
      l1ChainId: 900,
      l2ChainId: 90_001,
      schedule,
      batchInbox: inbox,
      depositContract: portal,
      l1SystemConfig: configContract,
      eip1559: { elasticity: 6, denominator: 50, denominatorCanyon: 250 },
      ...changes,
    }
    const ref = {
      ...l2,
      parentHash: zeroHash,
      timestamp: genesisTimeSec,
      l1Origin: { hash: genesis.ref.hash, number: 0 },
      sequenceNumber: 0,
    }
    const head: SafeHead = { ref, systemConfig }
    this.blocks = [{ ref, head, transactions: [] }]
    this.safeBlocks.set(0, { ref, transactions: [] })
    const start = this.startAt(head, 0)
    this.pipeline = createPipeline(this.config, start, silentLog)
    this.driver = this.#drive(start)
  }

  /** Mines an L1 block, by default 12 s after its parent. */
  mine(block: MinedBlock = {}, seconds = l1BlockSec): L1Block {
    const parent = this.l1.at(-1)
    const mined = mineL1(parent, (parent?.ref.timestamp ?? genesisTimeSec) + seconds, block)
    this.l1.push(mined)
    return mined
  }

  mineEmpty(count: number): void {
    for (let i = 0; i < count; i++) this.mine()
  }

  /** Drops the last L1 blocks; later blocks are on another branch. */
  reorg(depth: number): void {
    this.l1.length -= depth
  }

  /** Sequences L2 blocks. Their origin is the newest L1 block that is old enough, and advances by at most one L1 block at a time. */
  sequence(count: number, transactions: (number: number) => readonly Uint8Array[] = () => [], stayOnOrigin = false): readonly Sequenced[] {
    const made: Sequenced[] = []
    for (let i = 0; i < count; i++) {
      const parent = this.blocks.at(-1)
      if (!parent) throw new Error('no genesis')
      const { ref } = parent
      const next = this.l1[ref.l1Origin.number + 1]
      const isReady = next !== undefined && next.ref.timestamp <= timestampOf(this.config, ref.number + 1) && !stayOnOrigin
      const origin = isReady ? next : this.l1[ref.l1Origin.number]
      if (!origin) throw new Error('no L1 origin')
      const block = this.#build(parent.head, origin, transactions(ref.number + 1))
      this.blocks.push(block)
      made.push(block)
    }
    return made
  }

  /** Returns the frames of a channel with these blocks, as data of batcher transactions. */
  data(blocks: readonly SafeBlock[], form: BatchForm = singular, maxBytes = 120_000): readonly Uint8Array[] {
    const carrier: Carrier = { kind: 'calldata', maxBytes }
    return framesOf(this.channelId(), channelOf(this.config, blocks, form), carrier).map((frame) => encodeFrames([frame]))
  }

  channelId(): Hex {
    return `0x${(++this.#channels).toString(16).padStart(32, '0')}`
  }

  /** Returns batcher transactions with a channel of these blocks in their calldata. */
  post(blocks: readonly SafeBlock[], form: BatchForm = singular, maxBytes = 120_000): readonly Uint8Array[] {
    return this.data(blocks, form, maxBytes).map((data) => l1Transaction({ to: inbox, data }))
  }

  /** Stores a blob. @returns its versioned hash, which is made up */
  keepBlob(data: Uint8Array): Hash {
    const hash = hashFromBytes(keccak256(data))
    this.blobs.set(hash, data)
    return hash
  }

  /** Returns a batcher transaction with one blob for each frame of a channel of these blocks. */
  postBlobs(blocks: readonly SafeBlock[], form: BatchForm, frameBytes: number): Uint8Array {
    const frames = framesOf(this.channelId(), channelOf(this.config, blocks, form), { kind: 'calldata', maxBytes: frameBytes })
    return l1Transaction({ to: inbox, blobs: frames.map((frame) => this.keepBlob(blobOf([frame]))) })
  }

  /** Derives up to the L1 head. @returns the number of the safe head */
  derive(): number {
    for (;;) {
      const halt = this.driver.run()
      if (halt.kind === 'l1') return this.safe.number
      if (halt.kind === 'reset') throw new Error(`reset: ${halt.reason}`)
      this.#onInvalid(halt.derived)
    }
  }

  /** Derives until the driver halts, and returns the reason. */
  deriveUntilHalt(): Halt {
    return this.driver.run()
  }

  get safe(): SafeHead['ref'] {
    return this.driver.safe.ref
  }

  /** True when the safe head is the sequencer's block of that number. */
  get agrees(): boolean {
    return this.blocks[this.safe.number]?.ref.hash === this.safe.hash
  }

  startAt(safe: SafeHead, accountedFor: number): StartPoint {
    const { l1Origin, timestamp } = safe.ref
    const isGranite = isActive(this.config.schedule, 'granite', timestamp)
    const timeout = isGranite ? this.config.channelTimeoutGraniteBlocks : this.config.channelTimeoutBlocks
    const from = this.l1[Math.max(0, l1Origin.number - timeout)]
    if (!from) throw new Error('start point not found: its L1 block is missing')
    return { l1: from.ref, systemConfig: this.#systemConfigAt(from.ref.number), safe, accountedFor }
  }

  /** Restarts derivation as a driver does after a reset: at the safe head after the last canonical L1 block. */
  restart(): void {
    // L1 blocks before the start point are read again; their entries do not describe the safe head of that time
    const readTo = this.#history.at(-1)?.l1.number ?? -1
    this.#history.push(...this.driver.history.filter(({ l1 }) => l1.number > readTo))
    while (this.#history.length > 0 && this.l1[this.#history.at(-1)?.l1.number ?? 0]?.ref.hash !== this.#history.at(-1)?.l1.hash)
      this.#history.pop()
    const last = this.#history.at(-1)
    const start = this.startAt(last?.safe ?? this.#genesisHead(), last?.l1.number ?? 0)
    this.pipeline.reset(start)
    this.driver = this.#drive(start)
  }

  #genesisHead(): SafeHead {
    const [genesis] = this.blocks
    if (!genesis) throw new Error('no genesis')
    return genesis.head
  }

  #systemConfigAt(number: number): SystemConfig {
    let now = systemConfig
    for (const { ref, receipts } of this.l1.slice(1, number + 1)) {
      now = applyConfigUpdates(now, this.config, { timestamp: ref.timestamp, receipts }).systemConfig
    }
    return now
  }

  #build(parent: SafeHead, l1: L1Block, transactions: readonly Uint8Array[]): Sequenced {
    const deposits = userDeposits(portal, l1.ref.hash, l1.receipts)
    const origin = { ...l1.ref, header: l1.header, deposits, configReceipts: l1.receipts }
    const attributes = payloadAttributes(this.config, parent, origin, TransactionList.of(transactions))
    if (typeof attributes === 'string') throw new Error(attributes)
    const block = stubBlock(this.config, parent, attributes)
    const head = block === 'invalid' ? faultyHead(parent, l1, attributes) : block.head
    return { ref: head.ref, transactions: attributes.transactions, head, attributes }
  }

  #drive(start: StartPoint): DeriveDriver {
    return new DeriveDriver(this.pipeline, start, {
      l1: (number) => this.l1[number],
      blobs: (hashes) => {
        const found = hashes.map((hash) => this.blobs.get(hash))
        return found.every((blob) => blob !== undefined) ? found : 'missing'
      },
      l2: (number) => this.safeBlocks.get(number),
      build: (derived, parent) => this.#execute(derived, parent),
    })
  }

  #execute({ attributes }: DerivedAttributes, parent: SafeHead): SafeHead | 'invalid' {
    const block = stubBlock(this.config, parent, attributes)
    if (block === 'invalid') return block
    l1AttributesIn(block.payload)
    this.safeBlocks.set(block.head.ref.number, { ref: block.head.ref, transactions: block.payload.transactions })
    return block.head
  }

  #onInvalid(derived: DerivedAttributes): void {
    if (!isActive(this.config.schedule, 'holocene', derived.derivedFrom.timestamp)) {
      this.driver.dropPending()
      return
    }
    this.pipeline.flushChannel()
    const head = this.#execute({ ...derived, attributes: depositsOnly(derived.attributes) }, this.driver.tip)
    if (head === 'invalid') throw new Error('block with deposits only is invalid')
    this.driver.moveTo(head)
  }
}
