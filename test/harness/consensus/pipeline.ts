import { timestampOf } from '#chainspec/blockTime'
import { isActive } from '#chainspec/forks'
import { encodeL1Attributes } from '#chainspec/l1Info'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { DerivedAttributes, L1Block, Pipeline, SafeHead, StartPoint, Step, Want } from '#derive/ports'
import type { L1Ref } from '#types/blockRef'
import { zeroAddress, zeroHash } from '#types/ids'
import type { PayloadAttributes } from '#types/payload'
import { badTransaction } from '../engine/engine.ts'
import { type Batch, blobHash, decodeChannel } from './l1.ts'

type Queued = Batch & { readonly channel: number; readonly isSpan: boolean; readonly isLast: boolean; readonly from: L1Ref }

/** Changes the attributes of a block, as another version of derivation does. */
export type Alter = (attributes: PayloadAttributes, number: number) => PayloadAttributes

/**
 * Small model of derivation with the rules that affect its driver. Batches for past blocks are skipped. An early batch is kept before Holocene and voids
 * its channel from Holocene on. Before Holocene a span batch is valid as a whole or not at all. After a reset the pipeline reads again from the start
 * point's L1 block; from Holocene on it skips the batches of L1 blocks that are already applied.
 */
export class ScriptedPipeline implements Pipeline {
  readonly #config: RollupConfig
  #origin: L1Ref
  #next = 0
  #queue: Queued[] = []
  #reading: Queued | undefined
  #channels = 0
  #blobs: L1Block | undefined
  #blocks = new Map<number, L1Block>()
  #reset: string | undefined
  #flushes = 0
  #accountedFor = 0

  readonly #alter: Alter

  constructor(config: RollupConfig, alter: Alter = (attributes) => attributes) {
    this.#config = config
    this.#alter = alter
    this.#origin = { ...config.genesis.l1, parentHash: zeroHash, timestamp: 0 }
  }

  get origin(): L1Ref {
    return this.#origin
  }

  get flushes(): number {
    return this.#flushes
  }

  step(safe: SafeHead): Step<DerivedAttributes> {
    if (this.#reset) return { kind: 'reset', reason: this.#reset }
    if (this.#blobs) return { kind: 'need', want: blobsWanted(this.#blobs) }
    this.#dropBrokenSpan(safe)
    const queued = this.#take(safe.ref.number + 1)
    return queued
      ? { kind: 'item', item: this.#attributes(queued, safe) }
      : { kind: 'need', want: { kind: 'l1-block', number: this.#next } }
  }

  provide(answer: Parameters<Pipeline['provide']>[0]): void {
    if (answer.kind === 'l1-block') this.#read(answer.block)
    if (answer.kind !== 'blobs' || !this.#blobs) return
    if (answer.blobs === 'missing') this.#reset = 'missing blobs'
    else this.#enqueue(this.#blobs)
    this.#blobs = undefined
  }

  flushChannel(): void {
    this.#flushes++
    const { channel } = this.#reading ?? {}
    this.#queue = this.#queue.filter((queued) => queued.channel !== channel)
  }

  reset(start: StartPoint): void {
    this.#origin = start.l1
    this.#next = start.l1.number
    this.#accountedFor = start.accountedFor ?? 0
    this.#queue = []
    this.#reading = undefined
    this.#blobs = undefined
    this.#blocks = new Map()
    this.#reset = undefined
  }

  #read(block: L1Block): void {
    const isFirst = this.#next === this.#origin.number && this.#blocks.size === 0
    const follows = isFirst ? block.ref.hash === this.#origin.hash : block.ref.parentHash === this.#origin.hash
    if (!follows) {
      this.#reset = `L1 block ${block.ref.number} does not follow ${this.#origin.hash}`
      return
    }
    this.#origin = block.ref
    this.#next = block.ref.number + 1
    this.#blocks.set(block.ref.number, block)
    if (block.transactions.some((bytes) => decodeChannel(bytes).blob)) this.#blobs = block
    else this.#enqueue(block)
  }

  #enqueue(block: L1Block): void {
    if (isActive(this.#config.schedule, 'holocene', block.ref.timestamp) && block.ref.number <= this.#accountedFor) return
    for (const bytes of block.transactions) {
      const { batches, span } = decodeChannel(bytes)
      const channel = this.#channels++
      const isSpan = span === true
      batches.forEach((batch, at) => {
        this.#queue.push({ ...batch, channel, isSpan, isLast: !isSpan || at === batches.length - 1, from: block.ref })
      })
    }
  }

  /** Before Holocene: drops the rest of a span batch whose last block was not adopted. */
  #dropBrokenSpan(safe: SafeHead): void {
    const { isSpan, isLast, channel, number } = this.#reading ?? { isLast: true }
    if (isSpan && !isLast && number !== safe.ref.number) this.#queue = this.#queue.filter((queued) => queued.channel !== channel)
  }

  #take(wanted: number): Queued | undefined {
    for (;;) {
      this.#queue = this.#queue.filter((queued) => queued.number >= wanted)
      const at = this.#queue.findIndex((queued) => queued.number === wanted)
      const early = this.#queue.find(
        (queued, index) => (at < 0 || index < at) && isActive(this.#config.schedule, 'holocene', queued.from.timestamp),
      )
      if (early) {
        this.#queue = this.#queue.filter((queued) => queued.channel !== early.channel)
        continue
      }
      if (at < 0) return undefined
      this.#reading = this.#queue[at]
      this.#queue.splice(at, 1)
      return this.#reading
    }
  }

  #attributes(queued: Queued, { ref, systemConfig }: SafeHead): DerivedAttributes {
    const block = this.#blocks.get(queued.origin)
    if (!block) throw new RangeError(`batch ${queued.number}: origin ${queued.origin} not read yet`)
    const sequenceNumber = ref.l1Origin.number === queued.origin ? ref.sequenceNumber + 1 : 0
    const timestamp = timestampOf(this.#config, ref.number + 1)
    const place = { parentTimestamp: ref.timestamp, timestamp, sequenceNumber }
    const info = encodeL1Attributes(this.#config, { hash: block.ref.hash, header: block.header }, systemConfig, place)
    const batch = queued.tag.startsWith('bad') ? badTransaction : new TextEncoder().encode(`\u0002${queued.tag}`)
    const isHolocene = isActive(this.#config.schedule, 'holocene', queued.from.timestamp)
    const attributes = {
      timestamp,
      prevRandao: zeroHash,
      suggestedFeeRecipient: zeroAddress,
      transactions: [info, batch],
      noTxPool: true,
      gasLimit: systemConfig.gasLimit,
    }
    return {
      parent: ref,
      attributes: this.#alter(attributes, queued.number),
      derivedFrom: isHolocene ? queued.from : this.#origin,
      isLastInSpan: queued.isLast,
    }
  }
}

function blobsWanted(block: L1Block): Want {
  const names = block.transactions.flatMap((bytes) => decodeChannel(bytes).blob ?? [])
  return { kind: 'blobs', block: block.ref, hashes: names.map(blobHash) }
}
