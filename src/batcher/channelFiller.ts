import { l1AttributesIn } from '#chainspec/l2Ref'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { SafeBlock } from '#derive/ports'
import type { L2Ref } from '#types/blockRef'
import { allowedForms, chooseForm } from './allowedForms.ts'
import { type CloseReason, closeReason, isPastWindow } from './closing.ts'
import { OpenChannel, SizeEstimate } from './openChannel.ts'
import type { BatcherSettings } from './options.ts'
import type { BatcherL2, L1Tip } from './ports.ts'

/** Number of blocks read concurrently. */
const readAtOnce = 16
/** Estimated size of a block on L1 before the first channel. */
const firstBlockBytes = 100

export type FillerSettings = Pick<BatcherSettings, 'form' | 'compression' | 'maxChannelL1Blocks' | 'safetyMarginL1Blocks'>

/**
 * Result of a fill.
 * `filled`: blocks were added, or the channel is due.
 * `dry`: the chain has no further block yet.
 * `reorg`: the next block has another parent.
 * `late`: the sequencing window of the next block is over, so derivation would drop it.
 */
export type Filling = 'filled' | 'dry' | 'reorg' | 'late'

/** Reads the unsafe chain from the safe head on, block by block, into one open channel after another. */
export class ChannelFiller {
  readonly #config: RollupConfig
  readonly #l2: Pick<BatcherL2, 'block'>
  readonly #settings: FillerSettings
  readonly #estimate = new SizeEstimate()
  #last: L2Ref | undefined
  #open: OpenChannel | undefined
  #ahead: SafeBlock[] = []
  #blockBytes = firstBlockBytes

  constructor(config: RollupConfig, l2: Pick<BatcherL2, 'block'>, settings: FillerSettings) {
    this.#config = config
    this.#l2 = l2
    this.#settings = settings
  }

  /** Restarts with the block after `last`. */
  begin(last: L2Ref): void {
    this.#last = last
    this.#open = undefined
    this.#ahead = []
  }

  /** Last block added. */
  get last(): L2Ref | undefined {
    return this.#last
  }

  /** Number of the first block that is in no closed channel. */
  get next(): number | undefined {
    return this.#open?.ends.first.number ?? (this.#last && this.#last.number + 1)
  }

  get open(): OpenChannel | undefined {
    return this.#open
  }

  /** Uncompressed size of the open channel. */
  get bufferedBytes(): number {
    return this.#open?.bytes ?? 0
  }

  /** Returns the estimated compressed size of the open channel and of the further blocks up to a block number. */
  backlogBytes(unsafeNumber: number): number {
    const open = this.#open === undefined ? 0 : this.#estimate.of(this.#open.bytes, this.#open.transactions)
    const blockBytes = Math.max(this.#blockBytes, open / (this.#open?.blocks ?? 1))
    return Math.ceil(open + Math.max(0, unsafeNumber - (this.#last?.number ?? unsafeNumber)) * blockBytes)
  }

  /**
   * Returns the reason to close the open channel; undefined when it stays open or there is none.
   * @param targetBytes compressed, estimated
   */
  dueBy(tip: L1Tip, targetBytes: number): CloseReason | undefined {
    const { maxChannelL1Blocks, safetyMarginL1Blocks } = this.#settings
    return (
      this.#open &&
      closeReason(this.#open.age(this.#estimate), tip, this.#config, {
        targetBytes,
        maxRlpBytes: this.#open.maxRlpBytes,
        maxL1Blocks: maxChannelL1Blocks,
        marginL1Blocks: safetyMarginL1Blocks,
      })
    )
  }

  /** Ends the open channel and learns from its compressed size. */
  closed(compressedBytes: number): void {
    if (this.#open === undefined) return
    this.#estimate.learn(this.#open.bytes, this.#open.transactions, compressedBytes)
    this.#blockBytes = Math.ceil((this.#blockBytes + compressedBytes / this.#open.blocks) / 2)
    this.#open = undefined
  }

  /**
   * Adds blocks up to the unsafe head, a bounded number at a time, until the channel is due.
   * @throws Fault of the port
   */
  async fill(unsafe: L2Ref, tip: L1Tip, targetBytes: number, signal: AbortSignal): Promise<Filling> {
    if (this.#last === undefined) return 'dry'
    if (isLeft(this.#last, unsafe)) return 'reorg'
    if (this.#ahead.length === 0) this.#ahead = await this.#read(this.#last.number + 1, unsafe.number, signal)
    let filling: Filling = 'dry'
    for (let [block] = this.#ahead; block !== undefined; [block] = this.#ahead) {
      if (block.ref.parentHash !== this.#last.hash) return 'reorg'
      // the batcher's L1 endpoint is behind the sequencer's
      if (block.ref.l1Origin.number > tip.number) return filling
      if (isPastWindow(block.ref.l1Origin.number, tip.number, this.#config)) return this.#open === undefined ? 'late' : filling
      this.#open ??= this.#begin(block, tip)
      this.#open.add(block)
      this.#last = block.ref
      this.#ahead.shift()
      filling = 'filled'
      if (this.dueBy(tip, targetBytes) !== undefined) return filling
    }
    return filling
  }

  async #read(from: number, to: number, signal: AbortSignal): Promise<SafeBlock[]> {
    const count = Math.min(readAtOnce, to - from + 1)
    const blocks = await Promise.all(Array.from({ length: Math.max(0, count) }, (_, at) => this.#l2.block(from + at, signal)))
    const end = blocks.indexOf(undefined)
    return blocks.slice(0, end < 0 ? blocks.length : end).filter((block) => block !== undefined)
  }

  #begin(block: SafeBlock, tip: L1Tip): OpenChannel {
    const first = { originSec: l1AttributesIn(block).timestamp, blockSec: block.ref.timestamp }
    const allowed = allowedForms(this.#config, tip.timestamp, first)
    return new OpenChannel(this.#config, chooseForm(this.#settings, allowed), { l1Number: tip.number, maxRlpBytes: allowed.maxRlpBytes })
  }
}

/** Returns whether a reorg removed the last added block, as far as the unsafe head shows it. */
function isLeft(last: L2Ref, unsafe: L2Ref): boolean {
  return unsafe.number < last.number || (unsafe.number === last.number && unsafe.hash !== last.hash)
}
